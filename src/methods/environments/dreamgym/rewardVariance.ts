import { type Random, shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, succeeded, type Task, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link rewardVariance}. */
export interface RewardVarianceOptions {
  /** Tasks per iteration. Default 8. */
  readonly tasks?: number;
  /** Latest attempts at a task that its variance is measured over. Default 16. */
  readonly window?: number;
  /** Share of tasks drawn uniformly, in [0, 1], so that changes are noticed. Default 0.2. */
  readonly explore?: number;
  /** Reward r of an attempt. Default: 1 for a success, else 0. */
  readonly worth?: (t: Trajectory) => number;
  /** Generates a variation of a task with high variance. Default: no tasks are generated. */
  readonly vary?: (task: Task, random: Random) => Task;
  /** λ, largest share of generated tasks, in [0, 1]. Default 0.3. */
  readonly varied?: number;
}

/** Rewards of the latest attempts at each task. */
export interface VarianceState extends Readonly<Record<string, Readonly<Record<Id, readonly number[]>>>> {
  readonly worths: Readonly<Record<Id, readonly number[]>>;
}

/** V = mean of (r − mean r)²; an untried task has that of a fair coin, so that it gets selected. */
export function varianceOf(worths: readonly number[] | undefined): number {
  if (worths === undefined || worths.length === 0) return 0.25;
  const middle = worths.reduce((a, b) => a + b, 0) / worths.length;
  return worths.reduce((sum, r) => sum + (r - middle) ** 2, 0) / worths.length;
}

/**
 * Selects the tasks that the policy solves sometimes, which give the largest gradient:
 *
 *     V(x) = (1/n) Σ_i (r_i − r̄)²        over the latest n attempts at x, largest at r̄ = ½ where r is 0 or 1
 *
 * Takes the tasks of highest V, ties in random order, except for a share drawn uniformly; with `vary`, a share λ are new
 * tasks generated from those of highest V. A task occurs at most once per iteration. Failed episodes and demonstrations do
 * not count.
 * Paper: "Scaling Agent Learning via Experience Synthesis".
 */
export function rewardVariance(options: RewardVarianceOptions = {}): Data<VarianceState> {
  const { tasks: perIteration = 8, window = 16, explore = 0.2, worth = solved, vary, varied = 0.3 } = options;
  return {
    name: "rewardVariance",
    init: () => ({ worths: {} }),
    choose: async ({ random }, tasks, state) => {
      const count = Math.min(perIteration, tasks.length);
      const made = vary ? Math.floor(varied * count) : 0;
      const seeds = shuffled(tasks, random.split("order")).sort(
        (a, b) => varianceOf(state.worths[b.id]) - varianceOf(state.worths[a.id]),
      );
      const anyhow = Array.from(
        { length: count - made },
        (_, i) => random.split("explore", i).next() < explore,
      );
      const best = seeds.slice(0, anyhow.filter((any) => !any).length);
      const rest = shuffled(seeds.slice(best.length), random.split("rest"));
      const others = rest.slice(0, count - made - best.length);
      const fresh = Array.from({ length: made }, (_, i) => vary!(seeds[i]!, random.split("vary", i)));
      return { tasks: [...best, ...others, ...fresh], next: state };
    },
    observe: async (_ctx, { trajectories }, { worths }) => {
      const tried = trajectories.filter((t) => t.origin !== "demonstrated" && t.end.kind !== "failed");
      const seen = [...Map.groupBy(tried, (t) => t.task)].map(([id, own]): [Id, readonly number[]] => [
        id,
        [...(worths[id] ?? []), ...own.map(worth)].slice(-window),
      ]);
      return { worths: { ...worths, ...Object.fromEntries(seen) } };
    },
  };
}

const solved = (t: Trajectory): number => (succeeded(t) ? 1 : 0);
