import type { Play } from "../core/context.ts";
import type { Rollout } from "../core/slots.ts";
import type { ModelId } from "../core/types.ts";

/** Settings of {@link opponents}. */
export interface OpponentsOptions {
  /** Attempts at each training task by the policy, and as many by its opponent. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** The opponent: a model or frozen model of the run. Default "policy", the policy itself. */
  readonly opponent?: ModelId;
  /** Mixes the opponent's logits with a share of a frozen model's. */
  readonly mix?: Play["mix"];
}

/**
 * Plays every training task `groupSize` times with the policy and as often with an opponent, whose attempts only serve for
 * comparison. Units are the policy's trajectories alone, one each, grouped by task. Failed episodes are in no unit.
 */
export function opponents(options: OpponentsOptions = {}): Rollout {
  const { groupSize = 8, temperature, opponent = "policy", mix } = options;
  const warmth = temperature === undefined ? {} : { temperature };
  return async (ctx) => {
    const playing = ctx.tasks.flatMap(({ id: task }) =>
      Array.from({ length: groupSize }, async (_, i) => {
        const own = ctx.play({ task, attempt: i, together: groupSize, ...warmth });
        const other = ctx.play({
          task,
          attempt: groupSize + i,
          ...warmth,
          models: { agent: opponent },
          ...(mix ? { mix } : {}),
        });
        return { own: await own, other: await other };
      }),
    );
    const played = await Promise.all(playing);
    return {
      trajectories: [...played.flatMap((p) => p.own), ...played.flatMap((p) => p.other)],
      units: played
        .flatMap((p) => p.own)
        .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
        .map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
    };
  };
}
