import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";

/** Settings of {@link turnRewards}. */
export interface TurnRewardsOptions {
  /** Which of the environment's named rewards to pass on. Default: all. */
  readonly rewards?: readonly string[];
  /** First turn whose rewards are passed on, from 0. Default 0. */
  readonly from?: number;
  /** What each named reward is multiplied by. Default 1. */
  readonly weights?: Readonly<Record<string, number>>;
  /** One channel for all of them, or one named after each reward. Default "outcome". */
  readonly channel?: string | { readonly perName: true };
  /**
   * Signals of an episode without any rewards: none ("silence"), or a 0 at its last turn ("zero"), for estimators that must
   * include it. Default "silence".
   */
  readonly unpaid?: "silence" | "zero";
}

/** The environment's rewards for each action: one signal per turn and reward. A turn without rewards gets none. */
export function turnRewards(options: TurnRewardsOptions = {}): Feedback {
  const { rewards, from = 0, weights = {}, channel = "outcome", unpaid = "silence" } = options;
  return async (_ctx, { trajectories }) => {
    const signals: Signal[] = [];
    for (const t of trajectories) {
      if (t.end.kind === "failed") continue;
      const before = signals.length;
      t.turns.forEach((turn, k) => {
        if (k < from) return;
        for (const [name, paid] of Object.entries(turn.rewards)) {
          if (!(rewards?.includes(name) ?? true)) continue;
          const about = [{ trajectory: t.id, turn: k }];
          const to = typeof channel === "string" ? channel : name;
          const value = paid * (weights[name] ?? 1);
          signals.push({ kind: "reward", channel: to, about, value, source: "environment" });
        }
      });
      if (unpaid === "zero" && signals.length === before && t.turns.length > 0) {
        const to = typeof channel === "string" ? channel : "outcome";
        const about = [{ trajectory: t.id, turn: t.turns.length - 1 }];
        signals.push({ kind: "reward", channel: to, about, value: 0, source: "environment" });
      }
    }
    return signals;
  };
}
