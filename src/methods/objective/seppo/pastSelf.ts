import type { Rollout } from "../../../core/slots.ts";
import { drawnFromPool, keepInPool } from "./pool.ts";

/** Settings of {@link pastSelf}. */
export interface PastSelfOptions {
  /** Earlier policies kept; the method declares `pool(size)` among its frozen models. */
  readonly size: number;
  /** Attempts at each training task. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * Adds the policy to its pool of checkpoints, draws one of them (the current one included), and lets it play every
 * training task `groupSize` times. Units: one trajectory each, grouped by task; failed episodes are in none.
 */
export function pastSelf({ size, groupSize = 8, temperature }: PastSelfOptions): Rollout {
  return async (ctx) => {
    await keepInPool(ctx, size);
    const models = { agent: drawnFromPool(ctx, size) };
    const plays = ctx.tasks.flatMap(({ id: task }) =>
      Array.from({ length: groupSize }, (_, attempt) =>
        ctx.play({
          task,
          attempt,
          together: groupSize,
          models,
          ...(temperature === undefined ? {} : { temperature }),
        }),
      ),
    );
    const trajectories = (await Promise.all(plays)).flat();
    return {
      trajectories,
      units: trajectories
        .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
        .map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
    };
  };
}
