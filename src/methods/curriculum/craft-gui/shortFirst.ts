import type { Json } from "../../../core/json.ts";
import { shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { succeeded, type Task } from "../../../core/types.ts";

/** Settings of {@link shortFirst}. */
export interface ShortFirstOptions {
  /** Tasks per iteration. */
  readonly tasks: number;
  /** Largest length of each bin but the last, ascending. Default [3, 8]: 1 to 3 steps, 4 to 8, and longer. */
  readonly bins?: readonly number[];
  /** Iterations after which a stage ends. Default 30. */
  readonly perStage?: number;
  /** Mean success of a stage's own tasks in an iteration above which it ends earlier. Default 0.7. */
  readonly endsAbove?: number;
  /** Share of an iteration's tasks that come from earlier bins. Default 0.15. */
  readonly earlier?: number;
}

/** The stage, the number of bins being a last stage of all tasks, and its iterations so far. */
export interface ShortFirstState extends Readonly<Record<string, Json>> {
  readonly stage: number;
  readonly done: number;
}

/**
 * Steps of a task's reference trajectory: `metadata.steps` where the task says it, else the words of its reference, else 1.
 */
export function stepsOf({ metadata, reference }: Task): number {
  if (typeof metadata.steps === "number") return metadata.steps;
  return Math.max(1, reference?.split(/\s+/).filter(Boolean).length ?? 1);
}

/** Index of a task's bin. */
export const binOf = (task: Task, bins: readonly number[]): number =>
  bins.filter((most) => stepsOf(task) > most).length;

/**
 * Stages from short tasks to long ones, and at last all of them:
 *
 *     stage k: tasks of bin k, of which a share comes from earlier bins;  k ← k + 1 after `perStage` iterations, or once the mean
 *     success of the bin's own tasks exceeds `endsAbove`
 *
 * Bins without tasks are passed over. Without the earlier ones the short tasks are forgotten in the last stages. Tasks are drawn
 * uniformly, none twice in an iteration.
 * Paper: "CRAFT-GUI: Curriculum-Reinforced Agent For GUI Tasks".
 */
export function shortFirst(options: ShortFirstOptions): Data<ShortFirstState> {
  const { tasks: count, bins = [3, 8], perStage = 30, endsAbove = 0.7, earlier = 0.15 } = options;
  /** The first stage from `stage` on that has tasks of its own; the last one has all. */
  const filled = (tasks: readonly Task[], stage: number): number => {
    let at = stage;
    while (at <= bins.length && !tasks.some((task) => binOf(task, bins) === at)) at++;
    return at;
  };
  return {
    name: "short tasks first",
    init: () => ({ stage: 0, done: 0 }),
    async choose({ random }, tasks, state) {
      const stage = filled(tasks, state.stage);
      if (stage > bins.length)
        return { tasks: shuffled(tasks, random).slice(0, count), next: { ...state, stage } };
      const before = tasks.filter((task) => binOf(task, bins) < stage);
      const own = tasks.filter((task) => binOf(task, bins) === stage);
      const old = shuffled(before, random.split("earlier")).slice(0, Math.round(earlier * count));
      const now = shuffled(own, random.split("own")).slice(0, count - old.length);
      return { tasks: [...now, ...old], next: { ...state, stage } };
    },
    async observe(ctx, { trajectories }, { stage, done }) {
      const own = trajectories.filter(
        (t) => t.end.kind !== "failed" && binOf(ctx.task(t.task), bins) === stage,
      );
      const share = own.filter(succeeded).length / Math.max(1, own.length);
      const isOver = stage <= bins.length && (done + 1 >= perStage || share > endsAbove);
      return isOver ? { stage: stage + 1, done: 0 } : { stage, done: done + 1 };
    },
  };
}
