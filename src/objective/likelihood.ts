import type { Objective } from "../core/objective.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link likelihood}. */
export interface LikelihoodOptions {
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
  /** Factor of the loss. Default 1. */
  readonly coefficient?: number;
}

/**
 * Negative log-likelihood of the action tokens; advantages are ignored. For imitation, warm starts, replayed successes.
 *
 *     loss = −coefficient · Σ_a w[a]/N · logp[a]
 *
 * Stats, as sums: tokens, nll (nats, weights aside).
 */
export function likelihood({
  normaliser = "tokens",
  coefficient = 1,
}: LikelihoodOptions = {}): Objective<Totals> {
  return {
    name: "likelihood",
    together: "row",
    wants: () => ({}),
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: ({ logp }, batch, totals) => {
      const scale_A = scales(batch, normaliser, totals);
      let loss = 0;
      let tokens = 0;
      let nll = 0;
      const cotangent_A = new Float32Array(logp.length);
      for (let a = 0; a < logp.length; a++) {
        if (scale_A[a] === 0) continue;
        cotangent_A[a] = -coefficient * scale_A[a]!;
        loss -= coefficient * scale_A[a]! * logp[a]!;
        nll -= logp[a]!;
        tokens++;
      }
      return { loss, cotangents: { logp: cotangent_A }, stats: { loss, tokens, "nll/tokens": nll } };
    },
  };
}
