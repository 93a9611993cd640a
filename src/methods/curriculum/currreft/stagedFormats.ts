import type { Json } from "../../../core/json.ts";
import type { Data } from "../../../core/slots.ts";
import { succeeded } from "../../../core/types.ts";
import { formatsOf, posed } from "../../../data/variants.ts";

/** Settings of {@link stagedFormats}. */
export interface StagedFormatsOptions {
  /** Iterations of a stage. */
  readonly perStage: number;
  /** Mean success of an iteration above which a stage ends earlier. Default 0.8. */
  readonly endsAbove?: number;
}

/** The stage, and the state of the piece that chooses the tasks. */
export interface StagedState<State extends Json> extends Readonly<Record<string, Json>> {
  /** Index into each task's formats, from the easiest; beyond its last one a task is asked as it is. */
  readonly stage: number;
  /** Iterations of this stage so far. */
  readonly done: number;
  /** Iterations so far, so that each visit to a task draws its choices anew. */
  readonly iteration: number;
  readonly each: State;
}

/**
 * Asks all tasks in one format at a time, from the easiest to the task itself:
 *
 *     stage ← stage + 1 after `perStage` iterations, or once the mean success of an iteration exceeds `endsAbove`
 *
 * The last format that a task has is the task itself, and stays. Tasks without formats are asked as they are.
 * Paper: "Boosting the Generalization and Reasoning of Vision Language Models with Curriculum Reinforcement Learning".
 */
export function stagedFormats<State extends Json>(
  each: Data<State>,
  { perStage, endsAbove = 0.8 }: StagedFormatsOptions,
): Data<StagedState<State>> {
  return {
    name: `${each.name}, in stages`,
    init: (tasks) => ({ stage: 0, done: 0, iteration: 0, each: each.init(tasks) }),
    async choose(ctx, tasks, state) {
      const chosen = await each.choose(ctx, tasks, state.each);
      const asked = chosen.tasks.map((task) => {
        const formats = formatsOf(task);
        const format = formats[Math.min(state.stage, formats.length - 1)];
        return format === undefined ? task : posed(task, format, state.iteration);
      });
      return { tasks: asked, next: { ...state, iteration: state.iteration + 1, each: chosen.next } };
    },
    async observe(ctx, annotated, state) {
      const ended = annotated.trajectories.filter(({ end }) => end.kind !== "failed");
      const share = ended.filter(succeeded).length / Math.max(1, ended.length);
      const isOver = state.done + 1 >= perStage || share > endsAbove;
      const stage = isOver ? { stage: state.stage + 1, done: 0 } : { done: state.done + 1 };
      return { ...state, ...stage, each: await each.observe(ctx, annotated, state.each) };
    },
  };
}
