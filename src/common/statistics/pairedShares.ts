/** The difference of two shares that were measured on the same things. */
import type { Interval } from "../../core/interval.ts";
import { wilsonInterval } from "./statistics.ts";

/** How many things had something at both times, only at the second, only at the first, at neither. */
export interface PairedCounts {
  readonly both: number;
  readonly gained: number;
  readonly lost: number;
  readonly neither: number;
}

/**
 * The second share less the first, 95 %: Wilson intervals of both, combined with the correlation of the pairs, and corrected
 * for continuity. It stays within [−1, 1], and has a width also where nothing was lost or gained.
 *
 * R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on paired data"
 * (Statistics in Medicine, 1998), method 10.
 */
export function pairedShareInterval({ both, gained, lost, neither }: PairedCounts): Interval {
  const n = both + gained + lost + neither;
  const first = wilsonInterval(both + lost, n);
  const second = wilsonInterval(both + gained, n);
  const mean = (gained - lost) / n;
  const correlation = correlated({ both, gained, lost, neither });
  const half = (x: number, y: number): number => Math.sqrt(x * x - 2 * correlation * x * y + y * y);
  return {
    mean,
    low: Math.max(-1, mean - half(second.mean - second.low, first.high - first.mean)),
    high: Math.min(1, mean + half(second.high - second.mean, first.mean - first.low)),
    n,
  };
}

/** Correlation of the pairs, in [−1, 1]; 0 where one of the shares is 0 or 1. */
function correlated({ both, gained, lost, neither }: PairedCounts): number {
  const margins = (both + gained) * (lost + neither) * (both + lost) * (gained + neither);
  if (margins === 0) return 0;
  const product = both * neither - gained * lost;
  const corrected = product > 0 ? Math.max(0, product - (both + gained + lost + neither) / 2) : product;
  return corrected / Math.sqrt(margins);
}
