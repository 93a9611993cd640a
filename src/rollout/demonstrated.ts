/** Demonstrations by the environment's scripted player, alone or beside the policy's episodes. */
import { mapById } from "../common/mapById.ts";
import type { Ctx } from "../core/context.ts";
import type { Rollout } from "../core/slots.ts";
import type { Id, Trajectory } from "../core/types.ts";

/** Settings of {@link demonstrated}. */
export interface DemonstratedOptions {
  /** The environment's scripted player. Default "expert". */
  readonly player?: "expert" | "flawed";
  /** Demonstrations of each training task. Default 1. */
  readonly perTask?: number;
}

/** Settings of {@link withDemonstrations}. */
export interface WithDemonstrationsOptions extends DemonstratedOptions {
  /**
   * The group of a demonstration. "task": the group of the policy's attempts at its task; "own": a group of the
   * demonstrations of its task alone. Default "task".
   */
  readonly group?: "task" | "own";
}

/**
 * Demonstrations alone: the environment's scripted player plays every training task. The trajectories have origin
 * "demonstrated", are in the policy's tokens, and have no log-probabilities. Units: one trajectory each, grouped by task. A
 * failed episode, or one without turns, gives no unit.
 */
export function demonstrated(options: DemonstratedOptions = {}): Rollout {
  return async (ctx) => {
    const trajectories = await shown(ctx, options);
    return {
      trajectories,
      units: trajectories.filter(isWhole).map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
    };
  };
}

/** Adds demonstrations of the same tasks to the result of a rollout. */
export function withDemonstrations(rollout: Rollout, options: WithDemonstrationsOptions = {}): Rollout {
  const { group = "task" } = options;
  return async (ctx) => {
    const [own, extra] = await Promise.all([rollout(ctx), shown(ctx, options)]);
    const sampled = mapById(own.trajectories);
    const key = ({ task, role }: Trajectory): Id => `${task}/${role}`;
    const groups = new Map<Id, Id>();
    for (const unit of own.units) {
      for (const member of unit.members) {
        const t = sampled.get(member);
        if (t) groups.set(key(t), unit.group);
      }
    }
    const groupOf = (t: Trajectory): Id =>
      group === "own" ? `${t.task}/demonstrated` : (groups.get(key(t)) ?? t.task);
    return {
      ...own,
      trajectories: [...own.trajectories, ...extra],
      units: [
        ...own.units,
        ...extra.filter(isWhole).map((t) => ({ id: t.id, group: groupOf(t), members: [t.id] })),
      ],
    };
  };
}

async function shown(ctx: Ctx, options: DemonstratedOptions): Promise<readonly Trajectory[]> {
  const { player = "expert", perTask = 1 } = options;
  const plays = ctx.tasks.flatMap((task) =>
    Array.from({ length: perTask }, (_, attempt) => ctx.play({ task: task.id, attempt, player })),
  );
  return (await Promise.all(plays)).flat();
}

const isWhole = (t: Trajectory): boolean => t.end.kind !== "failed" && t.turns.length > 0;
