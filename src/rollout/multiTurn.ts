import type { Rollout } from "../core/slots.ts";
import type { Role } from "../core/words.ts";

/** Settings of {@link multiTurn}. */
export interface MultiTurnOptions {
  /** Attempts at each practised task; they are compared with each other. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Roles that are trained. Default: all that act. */
  readonly roles?: readonly Role[];
}

/**
 * Plays every practised task `groupSize` times, all at once. Units: one trajectory each; their group is the task, and
 * the role as well where several act. Failed episodes are kept among the trajectories and left out of the units.
 */
export function multiTurn({ groupSize = 8, temperature, roles }: MultiTurnOptions = {}): Rollout {
  return async (ctx) => {
    const plays = ctx.practice.flatMap((task) =>
      Array.from({ length: groupSize }, (_, attempt) =>
        ctx.play({ task: task.id, attempt, ...(temperature === undefined ? {} : { temperature }) }),
      ),
    );
    const episodes = await Promise.all(plays);
    const units = episodes.flatMap((played) =>
      played
        .filter((t) => t.end.kind !== "failed" && t.turns.length > 0 && (roles?.includes(t.role) ?? true))
        .map((t) => ({
          id: t.id,
          group: played.length > 1 ? `${t.task}/${t.role}` : t.task,
          members: [t.id],
        })),
    );
    return { trajectories: episodes.flat(), units };
  };
}
