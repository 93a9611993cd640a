/** Information Gain-based Policy Optimization: how much likelier the gold answer has become after each turn. */

import { pairRows } from "../../src/common/tokens/pack.ts";
import { concatIds } from "../../src/common/tokens/sequence.ts";
import { present } from "../../src/core/errors.ts";
import type { Annotate, Feedback } from "../../src/core/slots.ts";

export const goldLikelihood: Annotate = async (ctx, { trajectories }) => {
  const model = ctx.model();
  const gold = new Map<string, Float32Array>();
  for (const t of trajectories) {
    const target = model.codec.encode(
      present(ctx.task(t.task).reference, "goldLikelihood", "reference answer"),
    );
    const turns = t.turns.map((turn) => present(turn.tokens, "goldLikelihood", "tokens"));
    const rows = pairRows(
      turns.map(({ prompt, action }) => ({ prompt: concatIds([prompt, action]), target })),
    );
    const { logp } = await model.score(rows);
    gold.set(
      t.id,
      Float32Array.from(turns, (_, k) => {
        let sum = 0;
        for (let a = rows.targetOffset[k]!; a < rows.targetOffset[k + 1]!; a++) sum += logp[a]!;
        return Math.exp(sum / target.length);
      }),
    );
  }
  return { gold };
};

export const informationGain: Feedback = async (_ctx, { trajectories }, notes) =>
  trajectories.flatMap((t) => {
    const p = present(notes.gold?.get(t.id), "informationGain", "note gold");
    return t.turns.slice(1).map((_, k) => ({
      kind: "reward" as const,
      channel: "gain",
      about: [{ trajectory: t.id, turn: k + 1 }],
      value: p[k + 1]! - p[k]!,
      source: "policy",
    }));
  });
