import { groupStats, moments, scoredGroups, spread } from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link mixedNormalised}. */
export interface MixedNormalisedOptions {
  /** Factor of the deviation: above 1 it shrinks all advantages. Default 1. */
  readonly alpha?: number;
  /** Added to the divisor, in the unit of the rewards. Default 1e-4. */
  readonly lambda?: number;
  /** Largest advantage, either way: the deviation of a group that is only ranked would make small rewards large. Default 3. */
  readonly most?: number;
}

/**
 * Advantages over a group and what joined it:
 *
 *     A[i] = clamp((R[i] − mean R) / (α std R + λ), −most, most)      over own and replayed attempts; std with divisor G
 *
 * A group of equal rewards gets zeros and counts as dead.
 * Paper: "R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning".
 */
export function mixedNormalised(options: MixedNormalisedOptions = {}): Advantage<null> {
  const { alpha = 1, lambda = 1e-4, most = 3 } = options;
  return {
    name: "mixedNormalised",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, {});
      const values = new Map<Id, number>();
      for (const group of groups) {
        const { mean, deviation } = moments(group.map(({ value }) => value));
        for (const { unit, value } of group) {
          const own = deviation === 0 ? 0 : (value - mean) / (alpha * deviation + lambda);
          values.set(unit.id, Math.min(most, Math.max(-most, own)));
        }
      }
      return { advantages: spread(annotated, values, soFar), next: null, stats: groupStats(groups) };
    },
  };
}
