import type { Rollout } from "../../../core/slots.ts";
import { drawnFromPool, keepInPool } from "./pool.ts";

/** Settings of {@link pastSelf}. */
export interface PastSelfOptions {
  /** Earlier policies kept; the method declares `pool(size)` among its frozen models. */
  readonly size: number;
  /** Attempts at each practised task. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * Puts the policy into its pool of earlier selves, draws one of them, itself among them, and lets that one play every
 * practised task `groupSize` times. Units: one trajectory each, grouped by task; failed episodes are in none.
 */
export function pastSelf({ size, groupSize = 8, temperature }: PastSelfOptions): Rollout {
  return async (ctx) => {
    await keepInPool(ctx, size);
    const models = { agent: drawnFromPool(ctx, size) };
    const plays = ctx.practice.flatMap(({ id: task }) =>
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
