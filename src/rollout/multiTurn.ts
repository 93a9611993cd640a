import type { Play } from "../core/context.ts";
import type { Rollout } from "../core/slots.ts";
import type { Id, Role } from "../core/types.ts";

/** Settings of {@link multiTurn}. */
export interface MultiTurnOptions {
  /** Attempts at each practised task; they are compared with each other. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Roles that are trained. Default: all that act. */
  readonly roles?: readonly Role[];
  /** Which model, or frozen one, plays which role. Default: "policy" plays every role. */
  readonly models?: Play["models"];
  /** Actions are chosen among the legal ones; see {@link Play.constrained}. Default: anything can be said. */
  readonly constrained?: boolean;
  /** Smaller limits than the environment's own; one turn makes single-turn practice of any environment. */
  readonly limits?: Play["limits"];
}

/**
 * Plays every practised task `groupSize` times, all at once. Units: one trajectory each; their group is the task, and
 * the role as well where several act in any of its episodes. Failed episodes are kept among the trajectories and left out of the units.
 */
export function multiTurn(options: MultiTurnOptions = {}): Rollout {
  const { groupSize = 8, temperature, roles, models, constrained, limits } = options;
  return async (ctx) => {
    const plays = ctx.practice.flatMap((task) =>
      Array.from({ length: groupSize }, (_, attempt) =>
        ctx.play({
          task: task.id,
          attempt,
          together: groupSize,
          ...(temperature === undefined ? {} : { temperature }),
          ...(models ? { models } : {}),
          ...(limits ? { limits } : {}),
          ...(constrained ? { constrained } : {}),
        }),
      ),
    );
    const episodes = await Promise.all(plays);
    const trajectories = episodes.flat();
    // of all of a task's episodes: in some of them a role may never get to act
    const acted = new Map<Id, Set<Role>>();
    for (const { task, role, turns } of trajectories) {
      if (turns.length > 0) acted.set(task, (acted.get(task) ?? new Set()).add(role));
    }
    const units = trajectories
      .filter((t) => t.end.kind !== "failed" && t.turns.length > 0 && (roles?.includes(t.role) ?? true))
      .map((t) => ({
        id: t.id,
        group: (acted.get(t.task)?.size ?? 0) > 1 ? `${t.task}/${t.role}` : t.task,
        members: [t.id],
      }));
    return { trajectories, units };
  };
}
