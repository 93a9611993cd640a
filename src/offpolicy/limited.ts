/** Weights kept small, at the price of a bias. */
import type { Sample } from "./sample.ts";

/**
 * No product of ratios above `limit`: min(ρ_{0:t}, limit) in every turn ("Truncated Importance Sampling"). Less variance;
 * what is cut off is missing, so that the value of rewards ≥ 0 comes out too low by what the cut trajectories would have
 * brought, and a doubly robust estimate has the model's word for it.
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
 * Where a ratio is above `limit` it counts as 0, so that a doubly robust estimate believes the model there and the data
 * everywhere else: SWITCH ("Optimal and Adaptive Off-policy Evaluation in Contextual Bandits"). For estimates with
 * predictions alone: without them the cut actions are worth 0.
 */
export function switched(samples: readonly Sample[], limit: number): Sample[] {
  return samples.map((sample) => ({
    ...sample,
    ratios: sample.ratios.map((ratio) => (ratio > limit ? 0 : ratio)),
  }));
}
