/** Clipped weights: less variance, at the price of a bias. */
import type { Sample } from "./sample.ts";

/**
 * Clips the products of ratios at `limit`: min(ρ_{0:t}, limit) in every turn ("Truncated Importance Sampling"). This
 * lowers the variance. With rewards ≥ 0 the value is biased downwards by the clipped weight; a doubly robust estimate
 * relies on its model there instead.
 */
export function clipped(samples: readonly Sample[], limit: number): Sample[] {
  return samples.map((sample) => {
    let [product, before] = [1, 1];
    const ratios = sample.ratios.map((ratio) => {
      product *= ratio;
      const now = Math.min(product, limit);
      const kept = before === 0 ? 0 : now / before;
      before = now;
      return kept;
    });
    return { ...sample, ratios };
  });
}

/**
 * Counts a ratio above `limit` as 0, so that a doubly robust estimate uses the model there and the data everywhere else:
 * SWITCH ("Optimal and Adaptive Off-policy Evaluation in Contextual Bandits"). Only for estimates with predictions:
 * without them the cut actions are worth 0.
 */
export function switched(samples: readonly Sample[], limit: number): Sample[] {
  return samples.map((sample) => ({
    ...sample,
    ratios: sample.ratios.map((ratio) => (ratio > limit ? 0 : ratio)),
  }));
}
