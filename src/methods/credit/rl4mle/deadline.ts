import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory, Turn } from "../../../core/types.ts";

/** Settings of {@link deadline}. */
export interface DeadlineOptions {
  /** Length of the window, in the unit of `seconds`. */
  readonly window: number;
  /** Actors per training task; each starts its next episode when the previous one is over. Default 8. */
  readonly workers?: number;
  /** Duration of an action. Default: its reward named `seconds`, or 0. */
  readonly seconds?: (turn: Turn) => number;
  /** Most episodes of one actor in a window, so that episodes of zero duration cannot run forever. Default 64. */
  readonly most?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * Collects for a window of time: each actor plays one episode after the other, and episodes that are unfinished when the
 * window closes are lost. Longer episodes are under-represented, and those longer than the window never arrive.
 *
 *     episode e of an actor arrives if   Σ_{j ≤ e} seconds[j] ≤ window
 *
 * The environment reports the time, so that a run is reproducible. Actors run independently in parallel. Groups: the task.
 * Lost episodes count as `jobs.late` and their tokens as `tokens.discarded`; failed ones are
 * kept among the trajectories and left out of the units.
 * Stats: arrived, late (episodes of all actors).
 * Paper: "Reinforcement Learning for Machine Learning Engineering Agents".
 */
export function deadline(options: DeadlineOptions): Rollout {
  const { window, workers = 8, seconds = paidSeconds, most = 64, temperature } = options;
  return async (ctx) => {
    const act = async (task: string, worker: number): Promise<Arrived> => {
      const trajectories: Trajectory[] = [];
      let clock = 0;
      for (let e = 0; e < most; e++) {
        const attempt = worker * most + e;
        const played = await ctx.play({
          task,
          attempt,
          ...(temperature === undefined ? {} : { temperature }),
        });
        clock += Math.max(...played.map(({ turns }) => turns.reduce((sum, turn) => sum + seconds(turn), 0)));
        if (clock > window) {
          ctx.count("jobs.late", 1);
          for (const { turns } of played)
            for (const { tokens } of turns) ctx.count("tokens.discarded", tokens?.action.length ?? 0);
          return { trajectories, late: 1 };
        }
        trajectories.push(...played);
      }
      return { trajectories, late: 0 };
    };
    const actors = await Promise.all(
      ctx.tasks.flatMap(({ id }) => Array.from({ length: workers }, (_, worker) => act(id, worker))),
    );
    const trajectories = actors.flatMap((actor) => actor.trajectories);
    return {
      trajectories,
      units: trajectories
        .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
        .map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
      stats: {
        arrived: trajectories.length,
        late: actors.reduce((sum, actor) => sum + actor.late, 0),
      },
    };
  };
}

interface Arrived {
  readonly trajectories: readonly Trajectory[];
  readonly late: number;
}

const paidSeconds = ({ rewards }: Turn): number => rewards.seconds ?? 0;
