import { type Random, shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, succeeded, type Task, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link rewardVariance}. */
export interface RewardVarianceOptions {
  /** Tasks practised per iteration. Default 8. */
  readonly tasks?: number;
  /** Latest attempts at a task that its variance is measured over. Default 16. */
  readonly window?: number;
  /** Share of practice that is drawn from all tasks alike, in [0, 1], so that what changed is noticed. Default 0.2. */
  readonly explore?: number;
  /** What an attempt is worth. Default: 1 for a success, else 0. */
  readonly worth?: (t: Trajectory) => number;
  /** Makes another task after one that the policy is unsure of. Default: no tasks are made. */
  readonly vary?: (task: Task, random: Random) => Task;
  /** λ, largest share of practice that such tasks make up, in [0, 1]. Default 0.3. */
  readonly varied?: number;
}

/** What the latest attempts at each task were worth. */
export interface VarianceState extends Readonly<Record<string, Readonly<Record<Id, readonly number[]>>>> {
  readonly worths: Readonly<Record<Id, readonly number[]>>;
}

/** V = mean of (r − mean r)²; of a task never tried, that of a coin, so that it is tried. */
export function varianceOf(worths: readonly number[] | undefined): number {
  if (worths === undefined || worths.length === 0) return 0.25;
  const middle = worths.reduce((a, b) => a + b, 0) / worths.length;
  return worths.reduce((sum, r) => sum + (r - middle) ** 2, 0) / worths.length;
}

/**
 * The tasks that the policy now solves and now fails teach it most, not those that it fails:
 *
 *     V(x) = (1/n) Σ_i (r_i − r̄)²        over the latest n attempts at x, largest at r̄ = ½ where r is 0 or 1
 *
 * Practises the tasks of highest V, equals in random order, but for a share drawn from all alike; with `vary`, a share λ
 * are new tasks made after those of highest V. A task is practised once in an iteration. Attempts that failed through no
 * fault of the policy, and demonstrations, do not count.
 * Paper: "Scaling Agent Learning via Experience Synthesis".
 */
export function rewardVariance(options: RewardVarianceOptions = {}): Data<VarianceState> {
  const { tasks: perIteration = 8, window = 16, explore = 0.2, worth = solved, vary, varied = 0.3 } = options;
  return {
    name: "rewardVariance",
    init: () => ({ worths: {} }),
    choose: (tasks, state, random) => {
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
      return { practice: [...best, ...others, ...fresh], next: state };
    },
    observe: ({ trajectories }, { worths }) => {
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
