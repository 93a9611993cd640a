import { present } from "../core/errors.ts";
import type { Objective } from "../core/objective.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link entropyBonus}. */
export interface EntropyBonusOptions {
  /** Per nat. Default 0.01. */
  readonly coefficient?: number;
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
}

/**
 * Entropy bonus, from the full distribution at each action token.
 *
 *     loss = −coefficient · Σ_a w[a]/N · H[a]
 *
 * Stats, as sums: tokens, entropy (nats). Paper: "Asynchronous Methods for Deep Reinforcement Learning".
 */
export function entropyBonus(options: EntropyBonusOptions = {}): Objective<Totals> {
  const { coefficient = 0.01, normaliser = "tokens" } = options;
  return {
    name: "entropyBonus",
    together: "row",
    wants: () => ({ entropy: true }),
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: (outputs, batch, totals) => {
      const entropy_A = present(outputs.entropy, "entropyBonus", "entropy");
      const scale_A = scales(batch, normaliser, totals);
      let loss = 0;
      let tokens = 0;
      let sum = 0;
      const cotangent_A = new Float32Array(entropy_A.length);
      for (let a = 0; a < entropy_A.length; a++) {
        if (scale_A[a] === 0) continue;
        cotangent_A[a] = -coefficient * scale_A[a]!;
        loss -= coefficient * scale_A[a]! * entropy_A[a]!;
        sum += entropy_A[a]!;
        tokens++;
      }
      return { loss, cotangents: { entropy: cotangent_A }, stats: { loss, tokens, "entropy/tokens": sum } };
    },
  };
}
