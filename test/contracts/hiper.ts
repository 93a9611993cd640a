import { actionRows, gather } from "../../src/common/tokens/pack.ts";
import { overAll, spansOf, tokenRange } from "../../src/common/tokens/tokenRanges.ts";
import type { Objective } from "../../src/core/objective.ts";
import type { Advantage, Annotate } from "../../src/core/slots.ts";

const heads = ["high", "low"];

export const values: Annotate = async (ctx, { trajectories }) => {
  const notes: Record<string, Map<string, Float32Array>> = { high: new Map(), low: new Map() };
  for (const t of trajectories) {
    const outputs = await ctx.model("critic").score(actionRows(t), { heads });
    for (const head of heads) notes[head]?.set(t.id, outputs.heads[head] ?? new Float32Array());
  }
  return notes;
};

export const hierarchical: Advantage<null> = {
  name: "hierarchical",
  init: () => null,
  apply: ({ trajectories, channels, notes }) => {
    const advantages = new Map<string, Float32Array>();
    for (const t of trajectories) {
      const reward = channels.outcome?.find((c) => c.at.trajectory === t.id)?.value ?? 0;
      const out = overAll(t, 0);
      for (const [span, head] of [
        ["subgoal", "high"],
        ["action", "low"],
      ] as const) {
        for (const at of spansOf(t, span)) {
          const [from, to] = tokenRange(t, at);
          out.fill(reward - (notes[head]?.get(t.id)?.[from] ?? 0), from, to);
        }
      }
      advantages.set(t.id, out);
    }
    return { advantages, next: null, stats: {} };
  },
};

/** Trains the critic, not the model that acted. */
export const valueLoss: Objective<{ readonly returns: Float32Array }> = {
  name: "valueLoss",
  together: "row",
  model: "critic",
  wants: () => ({ heads }),
  prepare: async (_ctx, batch) => ({ returns: batch.columns.return ?? batch.advantage_A }),
  evaluate: (outputs, batch, aux) => {
    const returns = gather(aux.returns, batch.index_A);
    const high = outputs.heads.high ?? new Float32Array(returns.length);
    let loss = 0;
    const cotangent = high.map((v, a) => {
      loss += 0.5 * (v - returns[a]!) ** 2;
      return v - returns[a]!;
    });
    return { loss, cotangents: { heads: { high: cotangent } }, stats: { loss } };
  },
};
