import {
  type ChannelOptions,
  groupStats,
  moments,
  scoredGroups,
  spread,
} from "../../../advantage/returns.ts";
import { overAll } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Column of the success rate of each token's group. */
export const rateColumn = "group.successRate";

/** Settings of {@link successRates}. */
export interface SuccessRatesOptions extends ChannelOptions {
  /** Least return that is a success, in the unit of the rewards. Default 1. */
  readonly threshold?: number;
}

/**
 * Gives every token its unit's success as advantage, and its group's success rate as a column:
 *
 *     A[i] = 1[R[i] ≥ threshold],   column "group.successRate": r = mean of A over the group
 *
 * Groups that are all right or all wrong, including groups of one, are not trained on.
 * Paper: "Bridging Supervised Learning and Reinforcement Learning in Math Reasoning".
 */
export function successRates(options: SuccessRatesOptions = {}): Advantage<null> {
  const { threshold = 1 } = options;
  return {
    name: "successRates",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, options).map((group) =>
        group.map(({ unit, value }) => ({ unit, value: Number(value >= threshold) })),
      );
      const labels = new Map<Id, number>();
      const rates = new Map<Id, number>();
      for (const group of groups) {
        const { mean, deviation } = moments(group.map((s) => s.value));
        if (deviation === 0) continue;
        for (const { unit, value } of group) {
          labels.set(unit.id, value);
          for (const member of unit.members) rates.set(member, mean);
        }
      }
      const rate = new Map(
        annotated.trajectories.flatMap((t) => {
          const own = rates.get(t.id);
          return own === undefined ? [] : [[t.id, overAll(t, own)] as const];
        }),
      );
      return {
        advantages: spread(annotated, labels, soFar),
        columns: { [rateColumn]: rate },
        next: null,
        stats: groupStats(groups),
      };
    },
  };
}
