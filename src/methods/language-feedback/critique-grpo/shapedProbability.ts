import type { Objective } from "../../../core/objective.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "../../../objective/normaliser.ts";

/** Settings of {@link shapedProbability}. */
export interface ShapedProbabilityOptions {
  /** γ > 0, the probability at which a token's gradient is largest. Default 0.1. */
  readonly gamma?: number;
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
}

/**
 * A shaped probability in place of the importance ratio, for replies that the policy did not sample in this context: no
 * old log-probability is needed.
 *
 *     f(p) = p / (p + γ),   p[a] = exp(logp[a])
 *     loss = −Σ_a w[a]/N · A[a] · f(p[a])            ∂f/∂logp = γ p / (p + γ)²
 *
 * The gradient is ¼ at p = γ, γ/(1 + γ)² at p = 1, and p/γ far below γ: unlikely tokens of a good reply get larger updates
 * than likely ones, but extremely unlikely ones almost none. A negative advantage lowers a reply in the same way.
 *
 * Stats, as sums: tokens, probability.
 * Paper: "Critique-GRPO: Advancing LLM Reasoning with Natural Language and Numerical Feedback".
 */
export function shapedProbability(options: ShapedProbabilityOptions = {}): Objective<Totals> {
  const { gamma = 0.1, normaliser = "tokens" } = options;
  return {
    name: "shapedProbability",
    together: "row",
    wants: () => ({}),
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: ({ logp }, batch, totals) => {
      const scale_A = scales(batch, normaliser, totals);
      const cotangent_A = new Float32Array(logp.length);
      let [loss, tokens, probability] = [0, 0, 0];
      for (let a = 0; a < logp.length; a++) {
        if (scale_A[a] === 0) continue;
        const p = Math.exp(logp[a]!);
        const weight = scale_A[a]! * batch.advantage_A[a]!;
        loss -= (weight * p) / (p + gamma);
        cotangent_A[a] = (-weight * gamma * p) / (p + gamma) ** 2;
        tokens++;
        probability += p;
      }
      const stats = { loss, tokens, "probability/tokens": probability };
      return { loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}
