import { addStats, averageStats } from "../../src/common/statistics/stats.ts";
import type { Update } from "../../src/core/slots.ts";

export const backwards: Update = async (ctx, batch, objectives) => {
  const model = ctx.model();
  const sums = {};
  for (let turn = Math.max(0, ...batch.turn_A); turn >= 0; turn--) {
    const { logp } = await model.score(batch);
    const weight_A = batch.weight_A.map((w, a) => (batch.turn_A[a] === turn ? w : 0));
    const now = { ...batch, behaviour_A: logp, weight_A };
    for (const objective of objectives) {
      addStats(sums, await model.accumulate(now, objective, await objective.prepare(ctx, now)));
    }
    await model.step({ learningRate: 1e-6 });
  }
  return averageStats(sums);
};
