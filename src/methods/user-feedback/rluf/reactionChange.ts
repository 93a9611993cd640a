/** A reaction model's prediction for a candidate policy before launch, and its accuracy. */

import { leastSquares, pairedInterval } from "../../../common/statistics/statistics.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { Interval } from "../../../core/interval.ts";

/**
 * How a policy's reaction rate is expected to change:
 *
 *     ΔP = mean over prompts x of P(x, y_candidate) − P(x, y_base)
 *
 * with a paired t interval. The comparison is paired by prompt, since reactions depend on the question and the user.
 * @param candidate predicted probability of a reaction to its reply, by prompt; @param base the same of today's policy.
 * Paper: "Reinforcement Learning from User Feedback".
 */
export const reactionChange = (
  candidate: ArrayLike<number>,
  base: ArrayLike<number>,
  confidence = 0.95,
): Interval => pairedInterval(candidate, base, confidence);

/**
 * Spearman's rank correlation of predictions and observations, in [−1, 1]. Ties have the mean of their ranks. NaN if all
 * values of either side are equal.
 */
export function rankCorrelation(predicted: readonly number[], observed: readonly number[]): number {
  if (predicted.length !== observed.length) {
    throw new WhetstoneError("shape.mismatch", {
      where: "rankCorrelation",
      got: `${predicted.length} and ${observed.length} numbers`,
      expected: "a prediction and an observation for every variant",
      fix: "Remove variants that were predicted but not launched.",
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
