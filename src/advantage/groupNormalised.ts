import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { type ChannelOptions, groupStats, leastDeviation, moments, scoredGroups, spread } from "./returns.ts";

/** Settings of {@link groupNormalised}. */
export interface GroupNormalisedOptions extends ChannelOptions {
  /** "deviation" divides by the group's standard deviation; "none" keeps the unit of the rewards. Default "deviation". */
  readonly scale?: "deviation" | "none";
  /** Smallest deviation to divide by, in the unit of the rewards. Default 1e-4. */
  readonly floor?: number;
  /** Factor of the result: the weight of this estimator in a list of several. Default 1. */
  readonly weight?: number;
}

/**
 * Group-relative advantage (GRPO): a unit's return minus the mean of its group, divided by the group's standard deviation.
 *
 *     A[i] = (R[i] − mean(R)) / max(std(R), floor)        std over the group, divisor G
 *
 * TRL and verl take the deviation with divisor G − 1 and add an epsilon (1e-4 and 1e-6) where we take the greater of it and
 * the floor; for G = 8 our advantages are 7 % larger. The paper does not say which divisor it means.
 *
 * `scale: "none"` omits the division, as in "Understanding R1-Zero-Like Training: A Critical Perspective".
 * A group of one, or of equal returns, gets zeros and counts as dead.
 * Paper: "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models".
 */
export function groupNormalised(options: GroupNormalisedOptions = {}): Advantage<null> {
  const { scale = "deviation", floor = leastDeviation, weight = 1 } = options;
  return {
    name: "groupNormalised",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, options);
      const values = new Map<Id, number>();
      for (const group of groups) {
        const { mean, deviation } = moments(group.map((s) => s.value));
        const unit = scale === "deviation" ? Math.max(deviation, floor) : 1;
        for (const s of group)
          values.set(s.unit.id, deviation === 0 ? 0 : (weight * (s.value - mean)) / unit);
      }
      return { advantages: spread(annotated, values, soFar), next: null, stats: groupStats(groups) };
    },
  };
}
