/** Inverse propensity scoring. */
import type { Estimator } from "./estimator.ts";
import { checkSamples, discountedReturn, trajectoryWeight } from "./sample.ts";
import { plainMean } from "./weightedMean.ts";

/**
 * (1/n) Σ_i W_i G_i with W the product of a trajectory's ratios and G its discounted return. Unbiased if every target
 * action had a positive logging probability and the logged propensities are right. It changes when all rewards are
 * shifted, and its variance grows with the number of turns ("Eligibility Traces for Off-Policy Policy Evaluation").
 */
export const ips: Estimator = (samples, { discount = 1 } = {}) => {
  checkSamples("ips", samples);
  return plainMean(samples.map((s) => trajectoryWeight(s) * discountedReturn(s.rewards, discount)));
};
