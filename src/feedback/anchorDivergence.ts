import { batchOf } from "../core/pack.ts";
import type { Feedback } from "../core/slots.ts";
import { actionTokens, type Id } from "../core/words.ts";

/** Settings of {@link anchorDivergence}. */
export interface AnchorDivergenceOptions {
  /** Name of the frozen model. Default "reference". */
  readonly from?: string;
  /** Price per nat. Default 0.01. */
  readonly coefficient?: number;
  /** Default "divergence". */
  readonly channel?: string;
}

/**
 * What a trajectory pays for going away from a frozen model, as a reward beside the outcome: no gradient flows through
 * it, and baselines see it.
 *
 *     value = −coefficient · Σ_t (ln π_old(t) − ln π_anchor(t))          over the action tokens, at temperature 1
 *
 * One signal for each trajectory of a unit that has tokens. Its expectation is −coefficient times the divergence of the
 * whole sequence; a single sample may gain.
 * Paper: "Fine-Tuning Language Models from Human Preferences".
 */
export function anchorDivergence(options: AnchorDivergenceOptions = {}): Feedback {
  const { from = "reference", coefficient = 0.01, channel = "divergence" } = options;
  return async (ctx, { trajectories, units }) => {
    const none = new Map(trajectories.map((t) => [t.id, new Float32Array(actionTokens(t))]));
    const { batch } = batchOf(trajectories, units, none);
    if (batch.rows.length === 0) return [];
    const { logp } = await ctx.frozen(from).score(batch);
    const sums = new Map<Id, number>();
    batch.rows.forEach(({ trajectory }, r) => {
      let sum = sums.get(trajectory) ?? 0;
      for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++)
        sum += batch.logp_A[a]! - logp[a]!;
      sums.set(trajectory, sum);
    });
    return [...sums].map(([trajectory, nats]) => ({
      kind: "reward",
      channel,
      about: [{ trajectory }],
      value: -coefficient * nats,
      source: from,
    }));
  };
}
