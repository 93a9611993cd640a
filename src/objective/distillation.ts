import { type DivergenceKind, divergenceAt } from "../common/statistics/divergence.ts";
import { type HindsightRows, hindsightColumnsOf, hindsightIn } from "../common/tokens/hindsight.ts";
import type { Batch } from "../core/batch.ts";
import { present } from "../core/errors.ts";
import type { Frozen } from "../core/model.ts";
import type { Objective } from "../core/objective.ts";
import { oldColumn, oldLogp } from "./clippedRatio.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link distillation}. */
export interface DistillationOptions {
  /** Divergence between teacher and student; see `common/statistics/divergence.ts`. Default `{ jensenShannon: 0.5 }`. */
  readonly divergence?: DivergenceKind;
  /** Name of the teacher. Default "teacher". */
  readonly teacher?: string;
  /**
   * A frozen model as the teacher: it scores the training rows themselves and returns its `topk` most probable ids (the
   * whole vocabulary, if smaller). Default: none; an estimator provides the teacher's columns.
   */
  readonly asks?: { readonly frozen: string; readonly topk: number };
  /** Weights each token by its importance ratio, truncated at this number, without gradient. Default: no weights. */
  readonly importance?: number;
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
  /** Factor of the loss. Default 1. */
  readonly coefficient?: number;
}

/**
 * On-policy distillation: matches a teacher's next-token distribution at tokens that the student wrote itself.
 *
 *     loss = coefficient · Σ_a w[a]/N · ω[a] · D(q[a], p[a]),   ω = sg(min(exp(logp − old), importance))
 *
 * D runs over the teacher's ids and a bucket for all others, so its gradient reaches every id of the teacher, also those not
 * written. D covers the current step alone: effects of a token on later ones are left to an estimator. The teacher's columns
 * come from an estimator (`teacherGap`, `disagreementToGo`) or from a frozen model. A token without teacher values is left
 * out, also of the normaliser, and counted as unknown; so is one without a ratio, which the normaliser still counts.
 *
 * Stats, as sums: tokens, divergence (nats), unknown.
 * Papers: "Reinforcement Learning via Self-Distillation"; forward: "Reinforcement Learning from Rich Feedback with
 * Distributional DAgger"; a frozen model,
 * softened: "RLVF: Learning from Verbal Feedback without Overgeneralization".
 */
export function distillation(options: DistillationOptions = {}): Objective<Totals> {
  const { divergence = { jensenShannon: 0.5 }, teacher = "teacher" } = options;
  const { importance, normaliser = "tokens", coefficient = 1, asks } = options;
  return {
    name: "distillation",
    together: "row",
    wants: (_totals, batch) => {
      const { k, ids } = hindsightIn(batch, teacher);
      return k > 0 ? { at: { ids, width: k } } : {};
    },
    ...((importance !== undefined || asks) && {
      columns: async (ctx, batch) => ({
        ...(importance !== undefined && { [oldColumn]: await oldLogp(ctx, batch) }),
        ...(asks && (await saidBy(ctx.frozen(asks.frozen), batch, asks.topk, teacher))),
      }),
    }),
    prepare: async (_ctx, batch) => totalsOf(batch, speaks(hindsightIn(batch, teacher))),
    evaluate: ({ logp, at }, batch, totals) => {
      const taught = hindsightIn(batch, teacher);
      const { k } = taught;
      const old_A = batch.columns[oldColumn] ?? batch.behaviour_A;
      const scale_A = scales(batch, normaliser, totals, speaks(taught));
      const cotangent = new Float32Array(at?.length ?? 0);
      const stats = { loss: 0, tokens: 0, "divergence/tokens": 0, unknown: 0 };
      for (let a = 0; a < logp.length; a++) {
        const ratio = importance === undefined ? 1 : Math.min(Math.exp(logp[a]! - old_A[a]!), importance);
        if (batch.weight_A[a] !== 0 && (!speaks(taught)(a) || Number.isNaN(ratio))) stats.unknown++;
        if (!at || scale_A[a] === 0 || Number.isNaN(ratio)) continue;
        const own = (xs: Float32Array): Float32Array => xs.subarray(a * k, (a + 1) * k);
        const { value, slope_K } = divergenceAt(divergence, own(at), own(taught.logp));
        const scale = coefficient * scale_A[a]! * ratio;
        slope_K.forEach((slope, j) => {
          cotangent[a * k + j] = scale * slope;
        });
        stats.loss += scale * value;
        stats["divergence/tokens"] += value;
        stats.tokens++;
      }
      return { loss: stats.loss, cotangents: at ? { at: cotangent } : {}, stats };
    },
  };
}

/** A frozen model's columns for every target of a batch. */
async function saidBy(
  of: Frozen,
  batch: Batch,
  topk: number,
  teacher: string,
): Promise<Readonly<Record<string, Float32Array>>> {
  const outputs = await of.score(batch, { topk: Math.min(topk, of.codec.vocabulary) });
  return hindsightColumnsOf(teacher, present(outputs.topk, "distillation", "most probable ids"));
}

/** Whether the teacher has values at a token. */
const speaks =
  ({ k, logp }: HindsightRows) =>
  (a: number): boolean =>
    k > 0 && !Number.isNaN(logp[a * k]!);
