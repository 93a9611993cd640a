import { present } from "../core/errors.ts";
import type { Objective } from "../core/objective.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link klPenalty}. */
export interface KlPenaltyOptions {
  /** Name of the frozen reference model. Default "reference". */
  readonly to?: string;
  /** Default 0.01. */
  readonly coefficient?: number;
  /**
   * "k3": exp(−d) − 1 + d, never negative and unbiased in value. "k2": d²/2, whose gradient on the policy's own samples
   * is that of the divergence. Both with d = logp − reference. Default "k3".
   */
  readonly estimator?: "k2" | "k3";
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
}

/**
 * KL penalty to a frozen model, estimated on the batch's tokens.
 *
 *     loss = coefficient · Σ_a w[a]/N · k(logp[a] − reference[a])
 *
 * Stats, as sums: tokens, kl. Source: "Approximating KL Divergence" (Schulman).
 */
export function klPenalty(options: KlPenaltyOptions = {}): Objective<Totals> {
  const { to = "reference", coefficient = 0.01, estimator = "k3", normaliser = "tokens" } = options;
  const column = `${to}.logp`;
  return {
    name: to === "reference" ? "klPenalty" : `klPenalty.${to}`,
    together: "row",
    wants: () => ({}),
    columns: async (ctx, batch) => ({ [column]: (await ctx.frozen(to).score(batch)).logp }),
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: ({ logp }, batch, totals) => {
      const reference_A = present(batch.columns[column], "klPenalty", `column ${column}`);
      const scale_A = scales(batch, normaliser, totals);
      let loss = 0;
      let tokens = 0;
      let kl = 0;
      const cotangent_A = new Float32Array(logp.length);
      for (let a = 0; a < logp.length; a++) {
        const d = logp[a]! - reference_A[a]!;
        if (scale_A[a] === 0 || Number.isNaN(d)) continue;
        const k = estimator === "k3" ? Math.exp(-d) - 1 + d : (d * d) / 2;
        const slope = estimator === "k3" ? 1 - Math.exp(-d) : d;
        cotangent_A[a] = coefficient * scale_A[a]! * slope;
        loss += coefficient * scale_A[a]! * k;
        kl += k;
        tokens++;
      }
      return { loss, cotangents: { logp: cotangent_A }, stats: { loss, tokens, "kl/tokens": kl } };
    },
  };
}
