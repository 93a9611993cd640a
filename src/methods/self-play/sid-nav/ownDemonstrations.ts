import type { Rollout } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";

/** Settings of {@link ownDemonstrations}. */
export interface OwnDemonstrationsOptions {
  /** Share of the planned iterations, in [0, 1], in which the expert is imitated; the policy's own successes in the rest. */
  readonly expert: number;
  /** c: how many times the shortest way a success may be long. */
  readonly longest: number;
  /** Successes of a task that are kept, shortest first. */
  readonly best: number;
}

/** Success weighted by path length: d* / max(d*, length) for a success, else 0. @param shortest d* > 0, in turns. */
export const splOf = (t: Trajectory, shortest: number): number =>
  succeeded(t) ? shortest / Math.max(shortest, t.turns.length) : 0;

/** The shortest successes of at most c times the shortest way, at most `best`; of equal ones the first. */
export const worthShowing = (
  attempts: readonly Trajectory[],
  shortest: number,
  { longest, best }: Pick<OwnDemonstrationsOptions, "longest" | "best">,
): Trajectory[] =>
  attempts
    .filter((t) => succeeded(t) && t.turns.length <= longest * shortest)
    .toSorted((a, b) => a.turns.length - b.turns.length)
    .slice(0, best);

/**
 * Demonstrations that improve themselves: first those of an expert that knows the way, then the policy's own successes, which search
 * for it.
 *
 *     round 0:   D = the expert's episodes
 *     round k:   D = {y ~ π : y succeeds, length(y) ≤ c · d*}, at most `best` of each task, shortest first
 *
 * d*: length of the expert's episode of the same task, in turns. What is kept is a unit of its task's group; other episodes
 * stay among the trajectories and are in no unit. A small c leaves only what knows the way by chance, a large one teaches to
 * wander. Stats, of the policy's episodes: `kept`, share; `spl`, mean of d* / max(d*, length) over successes, failures counting 0.
 * Paper: "Learning Goal-Oriented Language-Guided Navigation with Self-Improving Demonstrations at Scale".
 */
export function ownDemonstrations(rollout: Rollout, options: OwnDemonstrationsOptions): Rollout {
  return async (ctx) => {
    const shown = await demonstrated()(ctx);
    const { iteration, iterations = 1 } = ctx.clock;
    if (iteration < options.expert * iterations) return shown;
    const shortest = new Map(shown.trajectories.map((t) => [t.task, Math.max(1, t.turns.length)]));
    const own = await rollout(ctx);
    const played = own.trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const kept = [...Map.groupBy(played, (t) => t.task)].flatMap(([task, attempts]) =>
      worthShowing(attempts, shortest.get(task) ?? 1, options),
    );
    const count = Math.max(1, played.length);
    return {
      ...own,
      units: kept.map(({ id, task }) => ({ id, group: task, members: [id] })),
      stats: {
        ...own.stats,
        kept: kept.length / count,
        spl: played.reduce((sum, t) => sum + splOf(t, shortest.get(t.task) ?? 1) / count, 0),
      },
    };
  };
}
