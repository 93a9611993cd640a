import type { Objective } from "../core/model.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link policyGradient}. */
export interface PolicyGradientOptions {
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
}

/**
 * The score-function estimator: its gradient at the policy that sampled is that of the expected reward.
 *
 *     loss = −Σ_a w[a]/N · A[a] · logp[a]
 *
 * Paper: "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning".
 */
export function policyGradient({ normaliser = "tokens" }: PolicyGradientOptions = {}): Objective<Totals> {
  return {
    name: "policyGradient",
    together: "row",
    wants: () => ({}),
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: ({ logp }, batch, totals) => {
      const scale_A = scales(batch, normaliser, totals);
      let loss = 0;
      let tokens = 0;
      const cotangent_A = new Float32Array(logp.length);
      for (let a = 0; a < logp.length; a++) {
        if (scale_A[a] === 0) continue;
        cotangent_A[a] = -scale_A[a]! * batch.advantage_A[a]!;
        loss -= scale_A[a]! * batch.advantage_A[a]! * logp[a]!;
        tokens++;
      }
      return { loss, cotangents: { logp: cotangent_A }, stats: { loss, tokens } };
    },
  };
}
