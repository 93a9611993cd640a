import type { Play } from "../core/context.ts";
import type { Rollout } from "../core/slots.ts";
import type { Id, Role } from "../core/types.ts";

/** Settings of {@link multiTurn}. */
export interface MultiTurnOptions {
  /** Attempts at each training task; they form one group. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Roles that are trained. Default: all that act. */
  readonly roles?: readonly Role[];
  /** The model or frozen model that plays each role. Default: "policy" plays every role. */
  readonly models?: Play["models"];
  /** Restricts actions to the legal ones; see {@link Play.constrained}. Default: unrestricted. */
  readonly constrained?: boolean;
  /** Limits below the environment's own; `turns: 1` makes single-turn training in any environment. */
  readonly limits?: Play["limits"];
}

/**
 * Plays every training task `groupSize` times, concurrently. Units: one trajectory each, grouped by task, and also by role
 * where several roles act in any of its episodes. Failed episodes are among the trajectories and in no unit.
 */
export function multiTurn(options: MultiTurnOptions = {}): Rollout {
  const { groupSize = 8, temperature, roles, models, constrained, limits } = options;
  return async (ctx) => {
    const plays = ctx.tasks.flatMap((task) =>
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
    // over all episodes of a task, since a role may not act in some of them
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
