/** What is trained in the benches: rows as a batch, and the plainest loss. */

import { pack } from "../src/common/tokens/pack.ts";
import type { Batch, Row } from "../src/core/batch.ts";
import type { Objective } from "../src/core/objective.ts";
import type { TargetRow } from "./workload.ts";

/** The mean negative log-likelihood, as plain as it gets. */
export const nll: Objective<number> = {
  name: "nll",
  together: "row",
  wants: () => ({}),
  prepare: async (_ctx, batch) => batch.target_A.length,
  evaluate({ logp }, _batch, targets) {
    const cotangent = new Float32Array(logp.length).fill(-1 / targets);
    let loss = 0;
    for (const x of logp) loss -= x / targets;
    return { loss, cotangents: { logp: cotangent }, stats: { loss } };
  },
};

/** As in peers/train.py. */
export const rule = { learningRate: 1e-4, betas: [0.9, 0.999], epsilon: 1e-8, weightDecay: 0.01 } as const;

export function batchOf(rows: readonly TargetRow[]): Batch {
  const packed = rows.map(({ tokens, from, group }, r): Row => {
    const targets = Int32Array.from({ length: tokens.length - from }, (_, i) => from + i);
    const of = (fill: number): Float32Array => new Float32Array(targets.length).fill(fill);
    return {
      info: {
        trajectory: `row ${r}`,
        task: group,
        role: "agent",
        model: "policy",
        version: "none",
        origin: "demonstrated",
        context: "sampled",
        unit: `row ${r}`,
        group,
        from: 0,
      },
      tokens: Int32Array.from(tokens),
      targets,
      turn: new Int32Array(targets.length),
      logp: of(Number.NaN),
      behaviour: of(Number.NaN),
      advantage: of(1),
      weight: of(1),
    };
  });
  const units = rows.map(({ group }, r) => ({ id: `row ${r}`, group, members: [`row ${r}`] }));
  return pack(packed, units);
}
