/** Per-decision importance sampling. */
import { byTurn } from "./byTurn.ts";
import type { Estimator } from "./estimator.ts";
import { checkSamples } from "./sample.ts";
import { combination, plainMean, weightedMean } from "./weightedMean.ts";

/**
 * Σ_t γ^t (1/n) Σ_i ρ_{i,0:t} r_{i,t}: a reward is weighted by the actions up to it, not by later ones ("Eligibility Traces
 * for Off-Policy Policy Evaluation"). Unbiased as {@link ips} is, with less variance if rewards come early; equal to it
 * if all reward comes with the last turn.
 */
export const perDecision: Estimator = (samples, { discount = 1 } = {}) => {
  checkSamples("perDecision", samples);
  const terms = byTurn(samples).map(({ weight, reward }, t) => ({
    factor: discount ** t,
    estimate: plainMean(weight.map((w, i) => w * reward[i]!)),
  }));
  return combination(terms, samples.length);
};

/** The same with Σ_i ρ_{i,0:t} instead of n in each turn: consistent, and within the range of possible returns. */
export const weightedPerDecision: Estimator = (samples, { discount = 1 } = {}) => {
  checkSamples("weightedPerDecision", samples);
  const terms = byTurn(samples).map(({ weight, reward }, t) => ({
    factor: discount ** t,
    estimate: weightedMean(weight, reward),
  }));
  return combination(terms, samples.length);
};
