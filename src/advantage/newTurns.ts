import { overAll, tokenRange } from "../common/tokens/tokenRanges.ts";
import type { Advantage } from "../core/slots.ts";

/** Column with 1 for the tokens of turns that an episode made, and 0 for those that it took over. */
export const newColumn = "new";

/**
 * Marks the tokens that an episode made itself in {@link newColumn}; advantages stay as they are. The turns that it took over from
 * an earlier attempt are its context, and a loss on the column does not train on them.
 * Papers: "Bootstrapping Task Spaces for Self-Improvement"; "Satori: Reinforcement Learning with Chain-of-Action-Thought Enhances
 * LLM Reasoning via Autoregressive Search".
 */
export function newTurns(): Advantage<null> {
  return {
    name: "newTurns",
    init: () => null,
    apply: ({ trajectories }, _state, soFar) => {
      const column = new Map(
        trajectories.map((t) => {
          const own = overAll(t, 1);
          const first = t.lineage?.turn ?? 0;
          if (first > 0) own.fill(0, 0, tokenRange(t, { trajectory: t.id, turn: first - 1 })[1]);
          return [t.id, own] as const;
        }),
      );
      return { advantages: soFar ?? new Map(), next: null, stats: {}, columns: { [newColumn]: column } };
    },
  };
}
