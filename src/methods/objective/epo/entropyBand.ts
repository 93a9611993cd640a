import type { Clock } from "../../../core/context.ts";
import { present } from "../../../core/errors.ts";
import type { Objective } from "../../../core/objective.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "../../../objective/normaliser.ts";

/** Settings of {@link entropyBand}. */
export interface EntropyBandOptions {
  /** Per nat beyond the band ("hinge"), or per token outside of it ("count"). Default 0.01. */
  readonly coefficient?: number;
  /** The band's bounds, as factors of the history; a low of 0 leaves only the upper one. Default 0.8 and 1.2. */
  readonly band?: { readonly low: number; readonly high: number };
  /**
   * "hinge" grows with the distance from the band and so has a gradient. "count" is the same for every token outside,
   * which changes the loss but has no gradient. Default "hinge".
   */
  readonly form?: "hinge" | "count";
  /** Factor on the coefficient as training goes on. Default 1. */
  readonly schedule?: (clock: Clock) => number;
  /** Column of the entropies to stay near, nats. Default "entropy.history". */
  readonly history?: string;
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
}

interface Aux {
  readonly totals: Totals;
  readonly factor: number;
}

/**
 * A penalty on entropies outside a band around their historical mean.
 *
 *     loss = coefficient · schedule · Σ_a w[a]/N · ( max(0, H[a] − high · H̄[a]) + max(0, low · H̄[a] − H[a]) )
 *
 * A token without a history has no penalty, but counts in N. With an entropy bonus of c per nat, entropy is lowered above
 * the band only where coefficient · schedule > c.
 *
 * Stats, as sums: tokens, outside (share of tokens). Paper: "EPO: Entropy-regularized Policy Optimization for LLM Agents
 * Reinforcement Learning".
 */
export function entropyBand(options: EntropyBandOptions = {}): Objective<Aux> {
  const { coefficient = 0.01, band = { low: 0.8, high: 1.2 }, form = "hinge", schedule = () => 1 } = options;
  const { history = "entropy.history", normaliser = "tokens" } = options;
  return {
    name: "entropyBand",
    together: "row",
    wants: () => ({ entropy: true }),
    prepare: async (ctx, batch) => ({ totals: totalsOf(batch), factor: schedule(ctx.clock) }),
    evaluate: (outputs, batch, { totals, factor }) => {
      const entropy_A = present(outputs.entropy, "entropyBand", "entropy");
      const history_A = present(batch.columns[history], "entropyBand", `column ${history}`);
      const scale_A = scales(batch, normaliser, totals);
      const cotangent_A = new Float32Array(entropy_A.length);
      let [loss, tokens, outside] = [0, 0, 0];
      for (let a = 0; a < entropy_A.length; a++) {
        if (scale_A[a] === 0) continue;
        tokens++;
        const above = entropy_A[a]! - band.high * history_A[a]!;
        const below = band.low * history_A[a]! - entropy_A[a]!;
        const beyond = Math.max(above, below);
        if (!(beyond > 0)) continue;
        outside++;
        const scale = coefficient * factor * scale_A[a]!;
        loss += scale * (form === "hinge" ? beyond : 1);
        if (form === "hinge") cotangent_A[a] = above > 0 ? scale : -scale;
      }
      const stats = { loss, tokens, "outside/tokens": outside };
      return { loss, cotangents: { entropy: cotangent_A }, stats };
    },
  };
}

/**
 * EPO's schedule of its smoothing, with u the completed share of the current half of training:
 *
 *     first half:  w = 1 − 0.2 (1 − exp(−2u))        from 1 down to 0.83
 *     second half: w = 0.8 exp(−3u)                  from 0.8 down to 0.04
 *
 * Constantly 1 if the number of iterations is not planned.
 */
export function epoSchedule({ iteration, iterations }: Clock): number {
  if (iterations === undefined) return 1;
  const u = iteration / (iterations / 2);
  return u <= 1 ? 1 - 0.2 * (1 - Math.exp(-2 * u)) : 0.8 * Math.exp(-3 * (u - 1));
}
