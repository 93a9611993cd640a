import { selectTokens } from "../../../common/tokens/pack.ts";
import { present } from "../../../core/errors.ts";
import type { Objective } from "../../../core/objective.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "../../../objective/normaliser.ts";

/** Settings of {@link gatedRatio}. */
export interface GatedRatioOptions {
  /** Bounds of the trainer's ratio in the advantage's direction; beyond them a token is dropped. Default 0.2 and 0.27. */
  readonly clip?: { readonly low: number; readonly high: number };
  /** Cap on the sampler–trainer correction d. Default 5. */
  readonly cap?: number;
  /** Default { constant: 1 }: the sum over a row's tokens, the mean over rows. */
  readonly normaliser?: Normaliser;
}

/** Column of the trainer's log-probabilities before the first step. */
export const trainerColumn = "trainer.logp";

/**
 * REINFORCE with token importance weights against the sampler and a gate on the policy's change (MiniRL).
 *
 *     discrepancy d = min(exp(old − behaviour), cap)      old: the same weights as the sampler's, scored by the trainer
 *     staleness   s = exp(logp − old)
 *     gate        M = 0 where A > 0 and s > 1 + high, or A < 0 and s < 1 − low; else 1, without gradient
 *     loss = −Σ_a w[a]/N · M[a] · d[a] · s[a] · A[a]
 *
 * d · s is π/μ: to first order in each token's change, the sum of these token terms has the gradient of the expected
 * reward of whole sequences. That requires the sum over tokens; it does not hold for a mean over a row's tokens. A gated
 * token has neither loss nor gradient, but counts in N. One without a behaviour log-probability is left out and counted.
 *
 * Stats, as sums: tokens, unknown, gated, discrepancy (k3 from sampler to trainer), kl (k3 from old to current weights).
 * Paper: "Stabilizing Reinforcement Learning with LLMs: Formulation and Practices".
 */
export function gatedRatio(options: GatedRatioOptions = {}): Objective<Totals> {
  const { clip = { low: 0.2, high: 0.27 }, cap = 5, normaliser = { constant: 1 } } = options;
  return {
    name: "gatedRatio",
    together: "row",
    wants: () => ({}),
    columns: async (ctx, batch) => {
      const old_A = new Float32Array(batch.target_A.length);
      for (const [id, rows] of Map.groupBy(batch.rows.keys(), (r) => batch.rows[r]!.model)) {
        const { logp } = await ctx.model(id).score(selectTokens(batch, rows));
        let from = 0;
        for (const r of rows) {
          const length = batch.targetOffset[r + 1]! - batch.targetOffset[r]!;
          old_A.set(logp.subarray(from, from + length), batch.targetOffset[r]!);
          from += length;
        }
      }
      return { [trainerColumn]: old_A };
    },
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: ({ logp }, batch, totals) => {
      const old_A = present(batch.columns[trainerColumn], "gatedRatio", `column ${trainerColumn}`);
      const scale_A = scales(batch, normaliser, totals);
      const cotangent_A = new Float32Array(logp.length);
      let [loss, tokens, unknown, gated, discrepancy, kl] = [0, 0, 0, 0, 0, 0];
      for (let a = 0; a < logp.length; a++) {
        if (scale_A[a] === 0) continue;
        const gap = old_A[a]! - batch.behaviour_A[a]!;
        const moved = logp[a]! - old_A[a]!;
        if (Number.isNaN(gap + moved)) {
          unknown++;
          continue;
        }
        tokens++;
        discrepancy += Math.exp(-gap) - 1 + gap;
        kl += Math.exp(-moved) - 1 + moved;
        const advantage = batch.advantage_A[a]!;
        const staleness = Math.exp(moved);
        const up = advantage > 0 && staleness > 1 + clip.high;
        const down = advantage < 0 && staleness < 1 - clip.low;
        if (up || down) {
          gated++;
          continue;
        }
        const slope = -scale_A[a]! * Math.min(Math.exp(gap), cap) * staleness * advantage;
        loss += slope;
        cotangent_A[a] = slope;
      }
      const stats = {
        loss,
        tokens,
        unknown,
        "gated/tokens": gated,
        "discrepancy/tokens": discrepancy,
        "kl/tokens": kl,
      };
      return { loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}
