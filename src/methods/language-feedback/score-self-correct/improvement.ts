import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Turn } from "../../../core/types.ts";

/** Settings of {@link improvement}. */
export interface ImprovementOptions {
  /** α, factor on the difference. Default 10. */
  readonly factor?: number;
  /** The environment's named rewards that score an answer. Default: all. */
  readonly rewards?: readonly string[];
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * A bonus for answers that are better than the previous one, and a penalty for worse ones, so that correcting an answer
 * earns more than repeating it:
 *
 *     b[k] = α (r[k] − r[k − 1])        about turn k alone, k ≥ 1
 *
 * in the unit of the rewards. Only the later answer gets it: credited to the earlier one as well, it would reward being
 * wrong first, since 1 − α < 0. A turn without a reward counts as 0; failed episodes get no signal.
 * Paper: "Training Language Models to Self-Correct via Reinforcement Learning".
 */
export function improvement(options: ImprovementOptions = {}): Feedback {
  const { factor = 10, rewards, channel = "outcome" } = options;
  const worth = (turn: Turn): number =>
    Object.entries(turn.rewards).reduce(
      (sum, [name, paid]) => ((rewards?.includes(name) ?? true) ? sum + paid : sum),
      0,
    );
  return async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .flatMap((t) =>
        t.turns.slice(1).map((turn, before): Signal => {
          const value = factor * (worth(turn) - worth(t.turns[before]!));
          const about = [{ trajectory: t.id, turn: before + 1 }];
          return { kind: "reward", channel, about, value, source: "environment" };
        }),
      );
}
