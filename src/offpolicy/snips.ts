/** Self-normalised inverse propensity scoring. */
import type { Estimator } from "./estimator.ts";
import { checkSamples, discountedReturn, trajectoryWeight } from "./sample.ts";
import { weightedMean } from "./weightedMean.ts";

/**
 * Σ W_i G_i / Σ W_i ("The Self-Normalized Estimator for Counterfactual Learning"). Consistent, with a bias of order 1/n;
 * never leaves the range of the returns, a shift of all returns shifts it alike, and a constant factor on all propensities
 * does not matter. For a version in a split with fixed shares it is that version's mean. NaN where the target did nothing
 * of what was logged.
 */
export const snips: Estimator = (samples, { discount = 1 } = {}) => {
  checkSamples("snips", samples);
  return weightedMean(
    samples.map(trajectoryWeight),
    samples.map((s) => discountedReturn(s.rewards, discount)),
  );
};
