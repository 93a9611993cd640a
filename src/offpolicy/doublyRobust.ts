/** Doubly robust estimation, turn by turn. */
import { WhetstoneError } from "../core/errors.ts";
import { byTurn } from "./byTurn.ts";
import type { Estimator } from "./estimator.ts";
import { checkSamples, type Sample } from "./sample.ts";
import { combination, plainMean, weightedMean } from "./weightedMean.ts";

function checkPredictions(where: string, samples: readonly Sample[]): void {
  checkSamples(where, samples);
  const without = samples.findIndex((s) => s.predicted === undefined);
  if (without < 0) return;
  throw new WhetstoneError("shape.mismatch", {
    where,
    got: `no predictions in trajectory ${without}`,
    expected: "q̂ and v̂ for every turn of every trajectory",
    fix: "Fit a reward model on other trajectories than these, or estimate with ips or snips.",
  });
}

/**
 * V_t = v̂_t + ρ_t (r_t + γ V_{t+1} − q̂_t), averaged over trajectories at t = 0 ("Doubly Robust Off-policy Value Evaluation
 * for Reinforcement Learning"); with one turn it is "Doubly Robust Policy Evaluation and Learning". Unbiased if either the
 * propensities or the predictions are right, whatever the other is. The predictions must not have been fitted on these
 * trajectories (fit on other users, or with cross-fitting).
 */
export const doublyRobust: Estimator = (samples, { discount = 1 } = {}) => {
  checkPredictions("doublyRobust", samples);
  // the recursion, unrolled: Σ_t γ^t (ρ_{0:t} (r_t − q̂_t) + ρ_{0:t−1} v̂_t)
  const terms = byTurn(samples).map(({ weight, before, reward, action, state }, t) => ({
    factor: discount ** t,
    estimate: plainMean(weight.map((w, i) => w * (reward[i]! - action[i]!) + before[i]! * state[i]!)),
  }));
  return combination(terms, samples.length);
};

/**
 * The same with weights normalised to 1 in each turn ("Data-Efficient Off-Policy Policy Evaluation for Reinforcement
 * Learning"): consistent, with less variance if a few trajectories have much weight.
 */
export const weightedDoublyRobust: Estimator = (samples, { discount = 1 } = {}) => {
  checkPredictions("weightedDoublyRobust", samples);
  const terms = byTurn(samples).flatMap(({ weight, before, reward, action, state }, t) => [
    {
      factor: discount ** t,
      estimate: weightedMean(
        weight,
        reward.map((r, i) => r - action[i]!),
      ),
    },
    { factor: discount ** t, estimate: weightedMean(before, state) },
  ]);
  return combination(terms, samples.length);
};
