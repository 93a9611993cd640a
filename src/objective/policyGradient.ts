import type { Objective } from "../core/objective.ts";
import type { ModelId } from "../core/types.ts";
import { oldColumn, oldLogp } from "./clippedRatio.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link policyGradient}. */
export interface PolicyGradientOptions {
  /** The model to train. Default: the one that acted. */
  readonly model?: ModelId;
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
  /** Factor of the loss. Default 1. */
  readonly coefficient?: number;
  /** Weights each token by its importance ratio, clamped to [1 − low, 1 + high]. Default: no weights. */
  readonly importance?: { readonly low: number; readonly high: number };
}

/**
 * The score-function (REINFORCE) estimator: at the sampling policy, its gradient is that of the expected reward.
 *
 *     loss = −coefficient · Σ_a w[a]/N · A[a] · logp[a]
 *
 * With `importance` it also works on samples of an older policy. No gradient goes through the weight, and a token with a
 * clamped weight still has a gradient, unlike in {@link clippedRatio}:
 *
 *     loss = −coefficient · Σ_a w[a]/N · sg(clamp(ρ[a], 1 − low, 1 + high)) · A[a] · logp[a],    ρ = exp(logp − old)
 *
 * `old` is the sampling (behaviour) distribution; a token without one is left out and counted.
 *
 * The paper of RLOO, and TRL, sum over an attempt's tokens and take the mean over attempts; the default here is the mean over
 * all tokens, as in verl: a gradient smaller by the mean length, with the same direction. TRL and verl also clip the ratio
 * of RLOO, which is 1 at the first step after sampling.
 *
 * Stats, as sums: tokens; with `importance` also ratio, clipFraction (weights at a bound), unknown.
 * Papers: "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning"; importance:
 * "MiniMax-M1: Scaling Test-Time Compute Efficiently with Lightning Attention" (CISPO).
 */
export function policyGradient(options: PolicyGradientOptions = {}): Objective<Totals> {
  const { normaliser = "tokens", coefficient = 1, importance, model } = options;
  return {
    name: "policyGradient",
    ...(model === undefined ? {} : { model }),
    together: "row",
    wants: () => ({}),
    ...(importance && { columns: async (ctx, batch) => ({ [oldColumn]: await oldLogp(ctx, batch) }) }),
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: ({ logp }, batch, totals) => {
      const scale_A = scales(batch, normaliser, totals);
      const old_A = batch.columns[oldColumn] ?? batch.behaviour_A;
      const cotangent_A = new Float32Array(logp.length);
      let loss = 0;
      let tokens = 0;
      let ratios = 0;
      let clipped = 0;
      let unknown = 0;
      for (let a = 0; a < logp.length; a++) {
        if (scale_A[a] === 0) continue;
        const ratio = importance ? Math.exp(logp[a]! - old_A[a]!) : 1;
        if (Number.isNaN(ratio)) {
          unknown++;
          continue;
        }
        const held = importance ? Math.min(Math.max(ratio, 1 - importance.low), 1 + importance.high) : 1;
        const weight = coefficient * scale_A[a]! * held * batch.advantage_A[a]!;
        cotangent_A[a] = -weight;
        loss -= weight * logp[a]!;
        tokens++;
        ratios += ratio;
        if (held !== ratio) clipped++;
      }
      const weights = { "ratio/tokens": ratios, "clipFraction/tokens": clipped, unknown };
      const stats = { loss, tokens, ...(importance && weights) };
      return { loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}
