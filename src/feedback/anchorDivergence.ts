import { batchOf } from "../common/tokens/pack.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Feedback } from "../core/slots.ts";
import { actionTokens, type Ref } from "../core/types.ts";

/** Settings of {@link anchorDivergence}. */
export interface AnchorDivergenceOptions {
  /** Name of the frozen model. Default "reference". */
  readonly from?: string;
  /** Penalty per nat; or one per turn, where the last applies to all later turns and each turn gets its own signal. Default 0.01. */
  readonly coefficient?: number | readonly number[];
  /**
   * Adapts the coefficient to the measured divergence, the mean over an iteration's units. Needs a single coefficient, which
   * is the initial value. Default: the coefficient is constant.
   */
  readonly target?: {
    readonly nats: number;
    /** Default 0.1. */
    readonly gain?: number;
  };
  /** Default "divergence". */
  readonly channel?: string;
}

/**
 * KL penalty to a frozen model, as a reward beside the outcome: no gradient flows through it, and baselines include it.
 *
 *     value = −coefficient · Σ_t (ln π_old(t) − ln π_anchor(t))          over the action tokens, at temperature 1
 *
 * One signal for each trajectory of a unit that has tokens, or for each of its turns. Its expectation is −coefficient
 * times the divergence of the whole sequence, or of the turn; a single sample may be positive. With a target,
 *
 *     e = clip((KL − nats) / nats, −0.2, 0.2),   then   coefficient ← coefficient · (1 + gain · e)
 *
 * once per iteration, for the next one; KL is the mean of the sums above. The run's memory keeps the coefficient.
 * Papers: "Fine-Tuning Language Models from Human Preferences"; turn by turn: "Training Language Models to Self-Correct
 * via Reinforcement Learning".
 */
export function anchorDivergence(options: AnchorDivergenceOptions = {}): Feedback {
  const { from = "reference", coefficient = 0.01, channel = "divergence", target } = options;
  if (target && typeof coefficient !== "number") {
    throw new WhetstoneError("config.invalid", {
      where: "anchorDivergence",
      got: "one coefficient per turn together with a target",
      expected: "a single coefficient when a target is set",
      fix: "Give one number as the coefficient, or leave the target out.",
    });
  }
  const key = `${channel}.coefficient`;
  return async (ctx, { trajectories, units }) => {
    const none = new Map(trajectories.map((t) => [t.id, new Float32Array(actionTokens(t))]));
    const { batch } = batchOf(trajectories, units, none);
    if (batch.rows.length === 0) return [];
    const { logp } = await ctx.frozen(from).score(batch);
    const kept = target && ctx.memory.get(key);
    const now = typeof kept === "number" ? kept : coefficient;
    const price = (turn: number): number => (typeof now === "number" ? now : (now[turn] ?? now.at(-1) ?? 0));
    let divergence = 0;
    const values = new Map<string, { readonly about: Ref; readonly value: number }>();
    batch.rows.forEach(({ trajectory }, r) => {
      for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
        const turn = batch.turn_A[a]!;
        const about: Ref = typeof coefficient === "number" ? { trajectory } : { trajectory, turn };
        const place = JSON.stringify(about);
        const before = values.get(place)?.value ?? 0;
        const nats = batch.logp_A[a]! - logp[a]!;
        divergence += nats;
        values.set(place, { about, value: before - price(turn) * nats });
      }
    });
    if (target && typeof now === "number")
      ctx.memory.set(key, moved(now, divergence / values.size, target.nats, target.gain));
    return [...values.values()].map(({ about, value }) => ({
      kind: "reward",
      channel,
      about: [about],
      value,
      source: from,
    }));
  };
}

/** The coefficient after one iteration, given the measured divergence. */
const moved = (coefficient: number, measured: number, nats: number, gain = 0.1): number =>
  coefficient * (1 + gain * Math.min(0.2, Math.max(-0.2, (measured - nats) / nats)));
