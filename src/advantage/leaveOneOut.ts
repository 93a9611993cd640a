import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { type ChannelOptions, groupStats, scoredGroups, spread } from "./returns.ts";

/**
 * Leave-one-out baseline (RLOO): a unit's return minus the mean of the others in its group. Unbiased.
 *
 *     A[i] = R[i] − (Σ_j R[j] − R[i]) / (G − 1)
 *
 * The only unit of a group of one gets 0.
 * Paper: "Back to Basics: Revisiting REINFORCE-Style Optimization for Learning from Human Feedback in LLMs".
 */
export function leaveOneOut(options: ChannelOptions = {}): Advantage<null> {
  return {
    name: "leaveOneOut",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, options);
      const values = new Map<Id, number>();
      for (const group of groups) {
        let sum = 0;
        for (const s of group) sum += s.value;
        const dead = group.every((s) => s.value === group[0]?.value);
        for (const s of group) {
          values.set(s.unit.id, dead ? 0 : s.value - (sum - s.value) / (group.length - 1));
        }
      }
      return { advantages: spread(annotated, values, soFar), next: null, stats: groupStats(groups) };
    },
  };
}
