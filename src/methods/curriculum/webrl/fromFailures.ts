import { pairRows } from "../../../common/tokens/pack.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, succeeded, type Task } from "../../../core/types.ts";
import { type UniformState, uniform } from "../../../data/uniform.ts";

/** Settings of {@link fromFailures}. */
export interface FromFailuresOptions {
  /** Tasks per iteration. */
  readonly tasks: number;
  /** Iterations of a phase. */
  readonly phase: number;
  /** Tasks of a phase. */
  readonly pool: number;
  /** Lowest and highest value of a task's beginning. Default 0.05 and 0.75. */
  readonly between?: readonly [low: number, high: number];
}

/** Tasks of the present phase, those that failed in it, and the passes over the phase's tasks. */
export interface FailureState extends Readonly<Record<string, Json>> {
  /** Empty in the first phase, which takes all tasks. */
  readonly pool: readonly Id[];
  readonly failed: readonly Id[];
  readonly each: UniformState;
}

/** Failed tasks that a phase's tasks are compared with. */
const examples = 10;

const wordsOf = ({ prompt }: Task): Set<string> =>
  new Set(prompt.flatMap(({ content }) => content.split(/\s+/).filter(Boolean)));

/** Share of the words of two tasks' prompts that both have; 1 for equal ones, and for two without words. */
export function sharedWords(a: Task, b: Task): number {
  const [of, others] = [wordsOf(a), wordsOf(b)];
  const shared = [...of].filter((word) => others.has(word)).length;
  const all = of.size + others.size - shared;
  return all === 0 ? 1 : shared / all;
}

/** The critic's value before the first action of each task. */
async function valuesOf(ctx: Ctx, tasks: readonly Task[]): Promise<Float32Array> {
  const { codec } = ctx.model();
  const rows = pairRows(
    tasks.map(({ prompt }) => ({ prompt: codec.open(prompt), target: Int32Array.of(codec.endId) })),
  );
  return (await ctx.model("critic").score(rows, { heads: ["value"] })).heads.value!;
}

/**
 * Phases of tasks that resemble the last phase's failures: the `pool` tasks that share the most words with one of ten failed tasks,
 * among those whose beginning the critic values from 0.05 to 0.75. Within a phase they are used in shuffled passes.
 *
 * The first phase takes all tasks, and so does one before which nothing failed, or for which the critic lets no task pass. A task
 * failed where none of its attempts in the phase succeeded.
 * Paper: "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning".
 */
export function fromFailures(options: FromFailuresOptions): Data<FailureState> {
  const { phase, pool: size, between: [low, high] = [0.05, 0.75] } = options;
  const each = uniform({ tasks: options.tasks });
  return {
    name: "from failures",
    init: (tasks) => ({ pool: [], failed: [], each: each.init(tasks) }),
    async choose(ctx, tasks, state) {
      const begins = ctx.clock.iteration > 0 && ctx.clock.iteration % phase === 0;
      const pool = begins ? await poolOf(ctx, tasks, state.failed) : state.pool;
      const allowed = new Set(pool);
      const own = pool.length > 0 ? tasks.filter(({ id }) => allowed.has(id)) : tasks;
      const chosen = await each.choose(ctx, own, begins ? each.init(own) : state.each);
      return {
        tasks: chosen.tasks,
        next: { pool, failed: begins ? [] : state.failed, each: chosen.next },
      };
    },
    async observe(_ctx, { trajectories }, state) {
      const solved = new Set(trajectories.filter(succeeded).map(({ task }) => task));
      const tried = new Set([...state.failed, ...trajectories.map(({ task }) => task)]);
      return { ...state, failed: [...tried].filter((id) => !solved.has(id)) };
    },
  };

  async function poolOf(ctx: Ctx, tasks: readonly Task[], failed: readonly Id[]): Promise<readonly Id[]> {
    if (failed.length === 0) return [];
    const like = shuffled(failed, ctx.random.split("examples"))
      .slice(0, examples)
      .map((id) => ctx.task(id));
    const values = await valuesOf(ctx, tasks);
    return tasks
      .filter((_, i) => values[i]! >= low && values[i]! <= high)
      .map((task) => ({ id: task.id, likeness: Math.max(...like.map((other) => sharedWords(task, other))) }))
      .toSorted((a, b) => b.likeness - a.likeness)
      .slice(0, size)
      .map(({ id }) => id);
  }
}
