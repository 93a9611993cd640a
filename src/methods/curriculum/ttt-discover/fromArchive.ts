import type { Rollout } from "../../../core/slots.ts";
import { paid, type Trajectory, type Unit } from "../../../core/types.ts";
import {
  type Archive,
  begun,
  bestOf,
  lineageOf,
  type Made,
  startsOf,
  withMade,
} from "../../../discover/archive.ts";

/** Settings of {@link fromArchive}. */
export interface FromArchiveOptions {
  /** Starts per task and iteration, at most. */
  readonly groups: number;
  /** G, attempts from each start. */
  readonly groupSize: number;
  /** Default 1. */
  readonly temperature?: number;
  /** False begins every attempt from the task alone; the archive then only keeps count. Default true. */
  readonly archive?: boolean;
}

/** Begins the message that shows a solution to go on from. */
export const goOnFrom = "go on from :\n";

/** What an attempt has written: its actions, a line each. */
export const solutionOf = ({ turns }: Trajectory): string =>
  turns.map(({ action }) => action.content.trim()).join("\n");

/**
 * Groups of attempts from solutions that earlier attempts wrote. Each task has an archive in the run's memory, whose root is
 * the task without a solution, worth 0. Starts are chosen by upper confidence ({@link startsOf}); a group plays the task anew with
 * the start's solution in the prompt, and its best two different solutions enter the archive. A reward is the sum over the attempt.
 *
 * While the archive has fewer starts than `groups`, there are fewer groups, or, without the archive, as many from the root. Failed
 * attempts count as visits and give no solution. Units: one trajectory each, grouped by start.
 * Stats: best, the largest reward so far; depth, mean number of solutions between a start and the root; starts.
 * Paper: "Learning to Discover at Test Time".
 */
export function fromArchive({
  groups,
  groupSize,
  temperature,
  archive: reuse = true,
}: FromArchiveOptions): Rollout {
  return async (ctx) => {
    const played = await Promise.all(
      ctx.tasks.map(async (task) => {
        const key = `ttt-discover ${task.id}`;
        const archive = (ctx.memory.get(key) ?? begun([{ candidate: "", score: 0 }])) as unknown as Archive;
        const starts = reuse
          ? startsOf(archive, "puct", { count: groups, group: groupSize }, ctx.random)
          : Array.from({ length: groups }, () => 0);
        const byId = new Map(archive.nodes.map((node) => [node.id, node]));
        const episodes = starts.flatMap((start, place) =>
          Array.from({ length: groupSize }, async (_, i) => {
            const { candidate } = byId.get(start)!;
            const trajectories = await ctx.play({
              task: task.id,
              attempt: place * groupSize + i,
              ...(candidate !== "" && { advice: `${goOnFrom}${candidate}` }),
              ...(temperature !== undefined && { temperature }),
            });
            return trajectories.map((trajectory) => ({ trajectory, start, place }));
          }),
        );
        const attempts = (await Promise.all(episodes)).flat();
        const made = attempts.map(({ trajectory, start }) => madeBy(trajectory, start));
        const next = withMade(archive, made, "puct");
        ctx.memory.set(key, JSON.parse(JSON.stringify(next)));
        const units = attempts
          .filter(({ trajectory }) => isWhole(trajectory))
          .map(
            ({ trajectory: { id }, place }): Unit => ({ id, group: `${task.id}#${place}`, members: [id] }),
          );
        const depths = starts.map((id) => lineageOf(archive, { id }).length - 1);
        const best = bestOf(next)?.score ?? 0;
        return { trajectories: attempts.map(({ trajectory }) => trajectory), units, depths, best };
      }),
    );
    const depths = played.flatMap((one) => one.depths);
    return {
      trajectories: played.flatMap(({ trajectories }) => trajectories),
      units: played.flatMap(({ units }) => units),
      stats: {
        best: Math.max(...played.map(({ best }) => best)),
        starts: depths.length,
        depth: depths.reduce((a, b) => a + b, 0) / depths.length,
      },
    };
  };
}

const isWhole = ({ end, turns }: Trajectory): boolean => end.kind !== "failed" && turns.length > 0;

/** What an attempt adds to the archive: nothing but a visit where it failed or wrote nothing. */
function madeBy(t: Trajectory, from: number): Made {
  const solution = solutionOf(t);
  return isWhole(t) && solution !== ""
    ? { from, candidate: solution, score: paid(t) }
    : { from, candidate: undefined, score: undefined };
}
