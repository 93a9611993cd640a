import { sigmoid } from "../../../common/statistics/logistic.ts";
import {
  type ActiveInputs,
  addScoreGradient,
  type NetworkSizes,
  scoreInputs,
} from "../../../helper/rewardNetwork.ts";

/**
 * How well a reward model tells unlabelled replies apart, and the gradient of it, which is added to `gradient`:
 *
 *     J = mean over pairs of σ(|r(y_i) − r(y_j)|)          subgradient 0 where both rewards are equal
 *
 * The paper's (2/k²) Σ over pairs of k replies is this times (k − 1)/k. 0 without pairs.
 * Paper: "Secrets of RLHF in Large Language Models Part II: Reward Modeling" (MetaRM).
 */
export function sharpness(
  theta: Float64Array,
  sizes: NetworkSizes,
  pairs: readonly (readonly [ActiveInputs, ActiveInputs])[],
  gradient: Float64Array,
): number {
  let sum = 0;
  for (const [a, b] of pairs) {
    const [first, second] = [scoreInputs(theta, sizes, a), scoreInputs(theta, sizes, b)];
    const by = first.reward - second.reward;
    const p = sigmoid(Math.abs(by));
    sum += p / pairs.length;
    const slope = (p * (1 - p) * Math.sign(by)) / pairs.length;
    addScoreGradient(theta, sizes, a, first, slope, gradient);
    addScoreGradient(theta, sizes, b, second, -slope, gradient);
  }
  return sum;
}
