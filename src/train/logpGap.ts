/** Sampling against training: whether log-probabilities of the same tokens and weights agree as far as rounding allows. */
import { gapSpread } from "../common/statistics/gaps.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Stats } from "../core/types.ts";

/**
 * Multiples of the engine's rounding noise beyond which a gap is a fault. Healthy runs stay below 1 in the mean and about
 * 10 in the quantile (measured on one model of 30 layers; see docs/decisions.md).
 */
const faulty = { mean: 100, p999: 1000 } as const;

/** Number of tokens from which the 99.9 % quantile is tested as well: below, it is close to the maximum. */
const fewestTokens = 1000;

/** Noise of engines that do not state it, in nats. */
const usualNoise = 1e-5;

/**
 * Judges the distribution, not its largest value: of ten thousand tokens a healthy deep model rounds one by 1e-4.
 * @param stats of an update, with the sums of `gapSums`.
 * @throws WhetstoneError `engine.failed` on a gap that rounding cannot explain.
 */
export function requireSmallGap(stats: Stats): void {
  const gap = gapSpread("logpGap", stats);
  if (!gap) return;
  const noise = gap.noise ?? usualNoise;
  const fine =
    gap.mean <= faulty.mean * noise && (gap.tokens < fewestTokens || gap.p999 <= faulty.p999 * noise);
  if (fine) return; // a NaN is not
  const digits = (x: number): string => x.toExponential(1);
  throw new WhetstoneError("engine.failed", {
    where: "sampling and training",
    got: `log-probabilities of the same ${gap.tokens} tokens and weights that differ by ${digits(gap.mean)} in the mean and by ${digits(gap.p999)} at the 99.9 % quantile`,
    expected: `at most ${digits(faulty.mean * noise)} and ${digits(faulty.p999 * noise)}`,
    fix: "This is a fault in the engine: please report it with the run's folder.",
  });
}
