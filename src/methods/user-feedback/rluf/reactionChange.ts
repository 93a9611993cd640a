/** A reaction model's prediction for a candidate policy before launch, and its accuracy. */

import { pairedInterval } from "../../../common/statistics/statistics.ts";
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
