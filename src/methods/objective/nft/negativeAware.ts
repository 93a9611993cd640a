import { present } from "../../../core/errors.ts";
import type { Objective } from "../../../core/objective.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "../../../objective/normaliser.ts";

/** Settings of {@link negativeAware}. */
export interface NegativeAwareOptions {
  /** Least likelihood ratio of the implicit negative policy, in (0, 1]. Default 1. */
  readonly floor?: number;
  /**
   * Weight of a group with success rate r. "failures": 1 − r, whose gradient at the sampling policy is that of the return
   * against the group's mean. "deviation": √((1 − r)/r), that of GRPO's normalised advantage. "none": 1. Default "failures".
   */
  readonly weight?: "failures" | "deviation" | "none";
  /** Column of the groups' success rates. Default "group.successRate". */
  readonly rate?: string;
  /** Default "tokens". */
  readonly normaliser?: Normaliser;
}

/**
 * Negative-aware fine-tuning (NFT): right answers are fitted directly, wrong ones under the implicit negative policy: the
 * sampling policy is seen as a mixture of a positive and a negative policy in the group's proportions r : 1 − r.
 *
 *     R[a] = exp(logp[a] − behaviour[a]),   Q[a] = (1 − r R[a]) / (1 − r)
 *     loss = −Σ_a w[a]/N · ω(r) · ( y[a] ln R[a] + (1 − y[a]) ln max_v(Q[a], floor) )
 *
 * y is the advantage column: 1 on right answers, 0 on wrong ones. max_v takes the larger value but the gradient of Q, so a
 * floored token's probability is still lowered: ∂ ln max_v/∂logp = −r R / ((1 − r) max(Q, floor)).
 * A token without a behaviour log-probability or a rate strictly between 0 and 1 is left out and counted as unknown.
 *
 * Stats, as sums: tokens, unknown, floored (share of tokens).
 * Paper: "Bridging Supervised Learning and Reinforcement Learning in Math Reasoning".
 */
export function negativeAware(options: NegativeAwareOptions = {}): Objective<Totals> {
  const { floor = 1, weight = "failures", rate = "group.successRate", normaliser = "tokens" } = options;
  return {
    name: "negativeAware",
    together: "row",
    wants: () => ({}),
    prepare: async (_ctx, batch) => totalsOf(batch),
    evaluate: ({ logp }, batch, totals) => {
      const rate_A = present(batch.columns[rate], "negativeAware", `column ${rate}`);
      const scale_A = scales(batch, normaliser, totals);
      const cotangent_A = new Float32Array(logp.length);
      let [loss, tokens, unknown, floored] = [0, 0, 0, 0];
      for (let a = 0; a < logp.length; a++) {
        if (scale_A[a] === 0) continue;
        const difference = logp[a]! - batch.behaviour_A[a]!;
        const r = rate_A[a]!;
        if (Number.isNaN(difference) || !(r > 0 && r < 1)) {
          unknown++;
          continue;
        }
        const y = batch.advantage_A[a]!;
        const scale = scale_A[a]! * weightOf[weight](r);
        const ratio = Math.exp(difference);
        const negative = (1 - r * ratio) / (1 - r);
        const held = Math.max(negative, floor);
        loss -= scale * (y * difference + (1 - y) * Math.log(held));
        cotangent_A[a] = -scale * (y - ((1 - y) * r * ratio) / ((1 - r) * held));
        if (y < 1 && negative < floor) floored++;
        tokens++;
      }
      const stats = { loss, tokens, unknown, "floored/tokens": floored };
      return { loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}

const weightOf: Readonly<Record<"failures" | "deviation" | "none", (r: number) => number>> = {
  failures: (r) => 1 - r,
  deviation: (r) => Math.sqrt((1 - r) / r),
  none: () => 1,
};
