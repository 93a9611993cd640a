/** What a model of reactions says of a candidate before it is launched, and how far that was right. */

import { leastSquares, pairedInterval } from "../../../common/statistics/statistics.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { Interval } from "../../../core/interval.ts";

/**
 * How a policy's reaction rate is expected to change:
 *
 *     ΔP = mean over prompts x of P(x, y_candidate) − P(x, y_base)
 *
 * with a paired t interval. Prompts are compared with themselves, since reactions depend on what was asked and by whom.
 * @param candidate predicted chance of a reaction to its reply, by prompt; @param base the same of today's policy.
 * Paper: "Reinforcement Learning from User Feedback".
 */
export const reactionChange = (
  candidate: ArrayLike<number>,
  base: ArrayLike<number>,
  confidence = 0.95,
): Interval => pairedInterval(candidate, base, confidence);

/**
 * Spearman's rank correlation, in [−1, 1]: whether what was predicted orders variants as what was observed does. Ties have
 * the mean of their ranks. NaN where either side is all ties.
 */
export function rankCorrelation(predicted: readonly number[], observed: readonly number[]): number {
  if (predicted.length !== observed.length) {
    throw new WhetstoneError("shape.mismatch", {
      where: "rankCorrelation",
      got: `${predicted.length} and ${observed.length} numbers`,
      expected: "one of each for every variant",
      mend: "Leave out variants that were predicted but not launched.",
    });
  }
  const { xx, xy, yy } = leastSquares(ranksOf(predicted), ranksOf(observed));
  return xy / Math.sqrt(xx * yy);
}

/** 1 for the lowest; ties have the mean of their ranks. */
const ranksOf = (xs: readonly number[]): number[] =>
  xs.map((x) => {
    const [below, equal] = [xs.filter((other) => other < x).length, xs.filter((other) => other === x).length];
    return below + (equal + 1) / 2;
  });
