import {
  type ChannelOptions,
  groupStats,
  moments,
  scoredGroups,
  spread,
} from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link amplified}. */
export interface AmplifiedOptions extends ChannelOptions {
  /** Least return of a success, in the unit of the rewards. Default 1. */
  readonly threshold?: number;
  /** Factor on returns above their group's mean that are not successes. Default 3. */
  readonly factor?: number;
}

/**
 * Positive amplification: successes get full weight, however common they are, so that rare ones are not outweighed by
 * failures.
 *
 *     s[i] = R[i] − mean(R)           over the group; R[i] in a group of one
 *     A[i] = 1              where R[i] ≥ threshold
 *            factor · s[i]  where s[i] ≥ 0
 *            s[i]           elsewhere
 *
 * A group of only successes still has a gradient; a group of equal failures has none. Without feedback there is no
 * advantage.
 * Paper: "R^3L: Reflect-then-Retry Reinforcement Learning with Language-Guided Exploration, Pivotal Credit, and Positive
 * Amplification".
 */
export function amplified(options: AmplifiedOptions = {}): Advantage<null> {
  const { threshold = 1, factor = 3 } = options;
  return {
    name: "amplified",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, options);
      const values = new Map<Id, number>();
      for (const group of groups) {
        const mean = group.length === 1 ? 0 : moments(group.map((s) => s.value)).mean;
        for (const { unit, value } of group) {
          const s = value - mean;
          values.set(unit.id, value >= threshold ? 1 : s >= 0 ? factor * s : s);
        }
      }
      return { advantages: spread(annotated, values, soFar), next: null, stats: groupStats(groups) };
    },
  };
}
