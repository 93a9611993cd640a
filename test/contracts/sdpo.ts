import { gather, gatherIds, prefixed } from "../../src/common/tokens/pack.ts";
import type { Objective } from "../../src/core/objective.ts";

interface Aux {
  readonly ids: Int32Array;
  readonly teacher: Float32Array;
  readonly width: number;
}

export const sdpo: Objective<Aux> = {
  name: "selfDistillation",
  together: "row",
  wants: (aux, batch) => ({ at: { ids: gatherIds(aux.ids, batch.index_A, aux.width), width: aux.width } }),
  prepare: async (ctx, batch) => {
    const width = 20;
    const policy = ctx.model();
    const ids = (await policy.score(batch, { topk: width })).topk?.ids ?? new Int32Array();
    const hinted = prefixed(batch, (row) =>
      policy.codec.encode(`hint: ${ctx.task(batch.rows[row]!.task).reference}`),
    );
    const teacher =
      (await ctx.frozen("teacher").score(hinted, { at: { ids, width } })).at ?? new Float32Array();
    return { ids, teacher, width };
  },
  evaluate: (outputs, batch, aux) => {
    const teacher = gather(aux.teacher, batch.index_A, aux.width);
    let loss = 0;
    // cross-entropy of the teacher's distribution on these ids
    const at = teacher.map((t, i) => {
      loss -= Math.exp(t) * (outputs.at?.[i] ?? 0);
      return -Math.exp(t);
    });
    return { loss, cotangents: { at }, stats: { loss } };
  },
};
