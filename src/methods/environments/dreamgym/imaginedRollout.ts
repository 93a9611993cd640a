import { mean } from "../../../common/statistics/statistics.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { imaginedTask } from "./imagined.ts";

/** Settings of {@link imagined}. */
export interface ImaginedRolloutOptions {
  /** Real episodes per training task, for comparison with the imagined ones; not trained on. Default 0. */
  readonly probes?: number;
}

/**
 * A rollout in the environment's experience model: every episode is imagined, and its trajectories have the origin
 * "imagined". An environment without an experience model plays them for real.
 *
 * Stats, with probes: `imagined.success`, `real.success` and `imagined.gap`, the first minus the second: above 0, the
 * model overestimates success.
 * Paper: "Scaling Agent Learning via Experience Synthesis".
 */
export function imagined(rollout: Rollout, { probes = 0 }: ImaginedRolloutOptions = {}): Rollout {
  return async (ctx) => {
    const dreaming: Ctx = {
      ...ctx,
      play: async (play) => {
        const task = typeof play.task === "string" ? ctx.task(play.task) : play.task;
        const played = await ctx.play({ ...play, task: imaginedTask(task) });
        return played.map((t): Trajectory => ({ ...t, origin: "imagined" }));
      },
    };
    const experience = await rollout(dreaming);
    if (probes === 0) return experience;
    // negative numbers keep probes distinct from training episodes
    const plays = ctx.tasks.flatMap((task) =>
      Array.from({ length: probes }, (_, i) => ctx.play({ task, attempt: -1 - i })),
    );
    const real = share((await Promise.all(plays)).flat());
    const dreamt = share(experience.trajectories);
    return {
      ...experience,
      stats: {
        ...experience.stats,
        "imagined.success": dreamt,
        "real.success": real,
        "imagined.gap": dreamt - real,
      },
    };
  };
}

const share = (trajectories: readonly Trajectory[]): number =>
  mean(trajectories.filter((t) => t.end.kind !== "failed").map((t) => (succeeded(t) ? 1 : 0)));
