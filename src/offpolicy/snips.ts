/** Self-normalised inverse propensity scoring. */
import type { Estimator } from "./estimator.ts";
import { checkSamples, discountedReturn, trajectoryWeight } from "./sample.ts";
import { weightedMean } from "./weightedMean.ts";

/**
 * Σ W_i G_i / Σ W_i ("The Self-Normalized Estimator for Counterfactual Learning"). Consistent, with a bias of order 1/n.
 * The value stays in the range of the returns, shifts with them, and does not depend on a constant factor of all
 * propensities. For a version in a split with fixed shares it is that version's mean. NaN if the target would have taken
 * none of the logged actions.
 */
export const snips: Estimator = (samples, { discount = 1 } = {}) => {
  checkSamples("snips", samples);
  return weightedMean(
    samples.map(trajectoryWeight),
    samples.map((s) => discountedReturn(s.rewards, discount)),
  );
};
