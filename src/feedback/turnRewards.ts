import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";

/** Settings of {@link turnRewards}. */
export interface TurnRewardsOptions {
  /** Which of the environment's named rewards to pass on. Default: all. */
  readonly rewards?: readonly string[];
  /** One channel for all of them, or one named after each reward. Default "outcome". */
  readonly channel?: string | { readonly perName: true };
}

/** What the environment paid for each action: one signal per turn and reward. A turn without rewards gets none. */
export function turnRewards({ rewards, channel = "outcome" }: TurnRewardsOptions = {}): Feedback {
  return async (_ctx, { trajectories }) => {
    const signals: Signal[] = [];
    for (const t of trajectories) {
      if (t.end.kind === "failed") continue;
      t.turns.forEach((turn, k) => {
        for (const [name, value] of Object.entries(turn.rewards)) {
          if (!(rewards?.includes(name) ?? true)) continue;
          const about = [{ trajectory: t.id, turn: k }];
          const to = typeof channel === "string" ? channel : name;
          signals.push({ kind: "reward", channel: to, about, value, source: "environment" });
        }
      });
    }
    return signals;
  };
}
