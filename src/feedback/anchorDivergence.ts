import { batchOf } from "../core/pack.ts";
import type { Feedback } from "../core/slots.ts";
import { actionTokens, type Ref } from "../core/words.ts";

/** Settings of {@link anchorDivergence}. */
export interface AnchorDivergenceOptions {
  /** Name of the frozen model. Default "reference". */
  readonly from?: string;
  /** Price per nat; or one for each turn, the last for all later ones, each turn paying for itself. Default 0.01. */
  readonly coefficient?: number | readonly number[];
  /** Default "divergence". */
  readonly channel?: string;
}

/**
 * What a trajectory pays for going away from a frozen model, as a reward beside the outcome: no gradient flows through
 * it, and baselines see it.
 *
 *     value = −coefficient · Σ_t (ln π_old(t) − ln π_anchor(t))          over the action tokens, at temperature 1
 *
 * One signal for each trajectory of a unit that has tokens, or for each of its turns. Its expectation is −coefficient
 * times the divergence of the whole sequence, or of the turn; a single sample may gain.
 * Papers: "Fine-Tuning Language Models from Human Preferences"; turn by turn: "Training Language Models to Self-Correct
 * via Reinforcement Learning".
 */
export function anchorDivergence(options: AnchorDivergenceOptions = {}): Feedback {
  const { from = "reference", coefficient = 0.01, channel = "divergence" } = options;
  return async (ctx, { trajectories, units }) => {
    const none = new Map(trajectories.map((t) => [t.id, new Float32Array(actionTokens(t))]));
    const { batch } = batchOf(trajectories, units, none);
    if (batch.rows.length === 0) return [];
    const { logp } = await ctx.frozen(from).score(batch);
    const price = (turn: number): number =>
      typeof coefficient === "number" ? coefficient : (coefficient[turn] ?? coefficient.at(-1) ?? 0);
    const values = new Map<string, { readonly about: Ref; readonly value: number }>();
    batch.rows.forEach(({ trajectory }, r) => {
      for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
        const turn = batch.turn_A[a]!;
        const about: Ref = typeof coefficient === "number" ? { trajectory } : { trajectory, turn };
        const key = JSON.stringify(about);
        const before = values.get(key)?.value ?? 0;
        values.set(key, { about, value: before - price(turn) * (batch.logp_A[a]! - logp[a]!) });
      }
    });
    return [...values.values()].map(({ about, value }) => ({
      kind: "reward",
      channel,
      about: [about],
      value,
      source: from,
    }));
  };
}
