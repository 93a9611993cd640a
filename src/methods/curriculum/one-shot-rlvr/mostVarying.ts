import { moments } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import type { Json } from "../../../core/json.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, paid, type Task } from "../../../core/types.ts";
import { type UniformState, uniform } from "../../../data/uniform.ts";

/** Settings of {@link mostVarying}. */
export interface MostVaryingOptions {
  /** Tasks per iteration, copies included. */
  readonly tasks: number;
  /** Mean rewards that each task needs before the choice, 2 or more. */
  readonly passes: number;
  /** k, tasks that are kept. Default 1. */
  readonly kept?: number;
  /** Default "most varying". */
  readonly rank?: "most varying" | "least varying" | "random";
}

/** Mean rewards of each task by pass, the kept tasks once they are chosen, and the state of the passes. */
export interface MostVaryingState extends Readonly<Record<string, Json>> {
  readonly means: Readonly<Record<Id, readonly number[]>>;
  readonly kept: readonly Id[];
  readonly each: UniformState;
}

/**
 * Ids of the tasks whose mean rewards varied most over the passes, or least, or of some at random. Ties go to the task that
 * comes first. Rank "random" does not look at the rewards.
 */
export function rankedByVariance(
  means: Readonly<Record<Id, readonly number[]>>,
  rank: "most varying" | "least varying" | "random",
  random: Random,
): Id[] {
  const ids = Object.keys(means);
  if (rank === "random") return shuffled(ids, random);
  const variance = new Map(ids.map((id) => [id, moments(means[id]!).deviation ** 2]));
  const sign = rank === "most varying" ? -1 : 1;
  return ids.toSorted((a, b) => sign * (variance.get(a)! - variance.get(b)!));
}

/** n copies of the tasks in turn; a copy after the first has an id of its own, so that it is a group of its own. */
export const copied = (tasks: readonly Task[], n: number): Task[] =>
  Array.from({ length: n }, (_, i) => {
    const task = tasks[i % tasks.length]!;
    return i < tasks.length
      ? task
      : { ...task, id: `${task.id}#${i}`, metadata: { ...task.metadata, variantOf: task.id } };
  });

/**
 * Passes over all tasks until each has `passes` mean rewards, then k of them alone:
 *
 *     v_i = Var over passes of the mean reward of task i's attempts;   the k tasks of the largest v_i fill every batch
 *
 * The variance is over passes and not over the attempts of a group: it says that training has moved the task. A task whose
 * attempts all fail to end gets no mean for that pass and is visited again.
 * Paper: "Reinforcement Learning for Reasoning in Large Language Models with One Training Example".
 */
export function mostVarying(options: MostVaryingOptions): Data<MostVaryingState> {
  const { tasks: perIteration, passes, kept: count = 1, rank = "most varying" } = options;
  const each = uniform({ tasks: perIteration });
  return {
    name: "most varying",
    init: (tasks) => ({ means: {}, kept: [], each: each.init(tasks) }),
    async choose(ctx, tasks, state) {
      const isDone = tasks.every(({ id }) => (state.means[id]?.length ?? 0) >= passes);
      if (!isDone) {
        const chosen = await each.choose(ctx, tasks, state.each);
        return { tasks: chosen.tasks, next: { ...state, each: chosen.next } };
      }
      const kept =
        state.kept.length > 0
          ? state.kept
          : rankedByVariance(state.means, rank, ctx.random.split("kept")).slice(0, count);
      const byId = mapById(tasks);
      return {
        tasks: copied(
          kept.map((id) => byId.get(id)!),
          Math.max(perIteration, kept.length),
        ),
        next: { ...state, kept },
      };
    },
    async observe(_ctx, { trajectories }, state) {
      if (state.kept.length > 0) return state;
      const ended = trajectories.filter(({ end }) => end.kind !== "failed");
      const means = { ...state.means };
      for (const [id, attempts] of Map.groupBy(ended, ({ task }) => task)) {
        const mean = attempts.reduce((sum, t) => sum + paid(t), 0) / attempts.length;
        means[id] = [...(means[id] ?? []), mean];
      }
      return { ...state, means };
    },
  };
}
