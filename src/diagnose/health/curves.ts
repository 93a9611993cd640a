/** What the checks of a run's health read off a curve: how it was at first, how it is of late. */
import { mean } from "../../common/statistics/statistics.ts";

/** A metric at rising iterations; NaN where it was not measured. */
export interface Curve {
  readonly iteration: readonly number[];
  readonly value: readonly number[];
}

/** The first tenth of a curve beside its last tenth, at least 5 points each where there are so many. */
export interface Ends {
  readonly early: number;
  readonly late: number;
  /** Of the late part: the largest value, and largest less smallest. */
  readonly most: number;
  readonly spread: number;
  /** Of the whole curve: largest and smallest value, and the median. */
  readonly largest: number;
  readonly smallest: number;
  readonly median: number;
  /** Points of the whole curve. */
  readonly measured: number;
  /** Iterations of the late part, half-open. */
  readonly from: number;
  readonly until: number;
}

/** @returns undefined where fewer points were measured than `fewest`. */
export function endsOf(curve: Curve | undefined, fewest: number): Ends | undefined {
  if (!curve) return undefined;
  const at = curve.value.map((_, i) => i).filter((i) => Number.isFinite(curve.value[i]));
  if (at.length < Math.max(1, fewest)) return undefined;
  const values = at.map((i) => curve.value[i]!);
  const part = Math.min(values.length, Math.max(5, Math.ceil(values.length / 10)));
  const late = values.slice(-part);
  const sorted = [...values].sort((a, b) => a - b);
  return {
    early: mean(values.slice(0, part)),
    late: mean(late),
    most: Math.max(...late),
    spread: Math.max(...late) - Math.min(...late),
    largest: sorted.at(-1)!,
    smallest: sorted[0]!,
    median: sorted[values.length >> 1]!,
    measured: values.length,
    from: curve.iteration[at.at(-part)!]!,
    until: curve.iteration[at.at(-1)!]! + 1,
  };
}

/** Quotients at the iterations of both; NaN where there is nothing to divide by. */
export function ratioOf(top: Curve | undefined, bottom: Curve | undefined): Curve | undefined {
  if (!top || !bottom) return undefined;
  const below = new Map(bottom.iteration.map((at, i) => [at, bottom.value[i]!]));
  const value = top.iteration.map((at, i) => top.value[i]! / (below.get(at) || Number.NaN));
  return { iteration: top.iteration, value };
}

export const percent = (share: number): string => `${Number((100 * share).toFixed(1))} %`;
export const digits = (x: number): string => String(Number(x.toPrecision(3)));
