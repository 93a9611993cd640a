import { mean } from "../../../common/statistics/statistics.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { imaginedTask } from "./imagined.ts";

/** Settings of {@link imagined}. */
export interface ImaginedRolloutOptions {
  /** Real episodes of each practised task, played to be compared with the imagined ones and not learnt from. Default 0. */
  readonly probes?: number;
}

/**
 * A rollout in the environment's experience model: every episode that it plays is an imagined one, and its trajectories
 * are of origin "imagined". An environment without an experience model plays them for real all the same.
 *
 * Stats, with probes: `imagined.success`, `real.success` and `imagined.gap`, the first less the second: above 0, the model
 * makes up successes.
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
    // numbered below 0, apart from the episodes that are learnt from
    const plays = ctx.practice.flatMap((task) =>
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
