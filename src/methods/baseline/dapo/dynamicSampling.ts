import type { Rollout } from "../../../core/slots.ts";
import { type Id, paid, type Trajectory, type Unit } from "../../../core/types.ts";

/** Settings of {@link dynamicSampling}. */
export interface DynamicSamplingOptions {
  /** Number of groups with unequal returns to collect. */
  readonly groups: number;
  /** Return of a trajectory. Default: the sum of the environment's rewards. */
  readonly returnOf?: (t: Trajectory) => number;
}

/**
 * Samples until enough groups have unequal returns: groups whose attempts all have the same return are left out, and the
 * next of the chosen tasks are played in their place, as many at once as groups are missing. The data slot must choose
 * more tasks than `groups`; when the tasks run out, the batch is smaller, or empty.
 *
 *     keep a group  ⇔  its returns are not all equal
 *
 * All trajectories are kept in the experience; units are those of the kept groups. Stats: groups.tried, and groups.kept
 * as a share of them.
 * Paper: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale".
 */
export function dynamicSampling(rollout: Rollout, options: DynamicSamplingOptions): Rollout {
  const { groups, returnOf = paid } = options;
  return async (ctx) => {
    const trajectories: Trajectory[] = [];
    const kept: Unit[][] = [];
    let tried = 0;
    for (let next = 0; kept.length < groups && next < ctx.tasks.length; ) {
      const training = ctx.tasks.slice(next, next + groups - kept.length);
      next += training.length;
      const wave = await rollout({ ...ctx, tasks: training });
      trajectories.push(...wave.trajectories);
      const returns = new Map(wave.trajectories.map((t) => [t.id, returnOf(t)]));
      const all = [...Map.groupBy(wave.units, (unit) => unit.group).values()];
      tried += all.length;
      kept.push(...all.filter((units) => differ(units, returns)));
    }
    const units = kept.slice(0, groups).flat();
    const stats = { "groups.tried": tried, ...(tried > 0 && { "groups.kept": kept.length / tried }) };
    return { trajectories, units, stats };
  };
}

function differ(units: readonly Unit[], returns: ReadonlyMap<Id, number>): boolean {
  const sums = units.map((unit) => unit.members.reduce((sum, id) => sum + (returns.get(id) ?? 0), 0));
  return sums.some((sum) => sum !== sums[0]);
}
