import type { Ctx } from "../../../core/context.ts";
import { isObject, listOf } from "../../../core/json.ts";
import type { Feedback, Update } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { problemsOf, type ReadProblems } from "./teaching.ts";

/** Name of the method that trains students. */
export const student = "student";

/** How a student is trained. */
export interface Lesson {
  /** Iterations on a dataset. */
  readonly iterations: number;
  readonly read: ReadProblems;
}

/** Success of a copy of the policy on this iteration's tasks after a lesson; the copy, optimiser state included, is thrown away. */
async function after(ctx: Ctx, tasks: readonly Task[], iterations: number): Promise<number> {
  const model = await ctx.model().fork("copy");
  const { success } = await ctx.learn({
    ...{ student, model, tasks, iterations, mode: "greedy" },
    measure: ctx.tasks.map(({ id }) => id),
  });
  await model.dispose();
  return success;
}

/** Name in the run's memory: success before the lessons, and the mean rewards of the last iterations. */
const kept = "soar";

/**
 * The reward of a dataset: how much better a copy of the student does on this iteration's hard tasks after it was trained on it,
 *
 *     R_k = mean over repeats of acc(θ_k) − acc(θ)        acc: greedy, one episode for each hard task
 *
 * All datasets of an iteration meet the same hard tasks, and each begins from the same student. The signal, on channel "progress",
 * stands on a dataset's first text, since a unit's value is the sum over its members. A dataset without a readable problem gets 0.
 * Paper: "Teaching Models to Teach Themselves: Reasoning at the Edge of Learnability".
 */
export function progress({ iterations, read, repeats }: Lesson & { readonly repeats: number }): Feedback {
  return async (ctx, experience) => {
    const before = await after(ctx, [], 0);
    const memory = ctx.memory.get(kept);
    ctx.memory.set(kept, { ...(isObject(memory) ? memory : {}), before });
    return Promise.all(
      experience.units.map(async (unit) => {
        const gains = Array.from({ length: repeats }, async (_, copy) => {
          const tasks = problemsOf(ctx, experience, unit, copy, read);
          return tasks.length === 0 ? 0 : (await after(ctx, tasks, iterations)) - before;
        });
        const value = (await Promise.all(gains)).reduce((a, b) => a + b / repeats, 0);
        const about = [{ trajectory: unit.members[0]! }];
        return { kind: "reward" as const, channel: "progress", about, value, source: "student" };
      }),
    );
  };
}

/**
 * After the teacher's update: where the mean reward of the last iterations exceeds a threshold, the policy itself is trained on the
 * best dataset, with the randomness of its first copy. So it becomes that copy.
 *
 *     mean over the last `over` iterations of mean_k R_k > τ and max_k R_k > 0:  θ ← θ_k*,  k* = argmax R_k
 *
 * Stats: progress, mean reward; student, success before the lessons; promoted, 1 or 0; readable, share of the texts.
 * Paper: "Teaching Models to Teach Themselves: Reasoning at the Edge of Learnability".
 */
export function promoting(
  update: Update,
  { iterations, read, threshold, over }: Lesson & { readonly threshold: number; readonly over: number },
): Update {
  return async (ctx, batch, objectives, annotated) => {
    const stats = await update(ctx, batch, objectives, annotated);
    const worth = annotated.units.map(({ members }) =>
      (annotated.channels.progress ?? []).reduce(
        (sum, { at, value }) => sum + (at.trajectory === members[0] ? value : 0),
        0,
      ),
    );
    const mean = worth.reduce((a, b) => a + b / worth.length, 0);
    const memory = ctx.memory.get(kept);
    const { before = null, recent = [] } = isObject(memory) ? memory : {};
    const last = [...listOf(recent).map(Number), mean].slice(-over);
    ctx.memory.set(kept, { before, recent: last });
    const best = worth.indexOf(Math.max(...worth));
    const isUp = last.length === over && last.reduce((a, b) => a + b / over, 0) > threshold;
    const promoted = isUp && worth[best]! > 0;
    if (promoted) {
      const tasks = problemsOf(ctx, annotated, annotated.units[best]!, 0, read);
      await ctx.learn({ student, model: ctx.model(), tasks, iterations, measure: [] });
    }
    const readable = annotated.trajectories.filter(
      ({ id, turns }) => read(ctx, turns[0]?.action.content ?? "", id).length > 0,
    ).length;
    return {
      ...stats,
      progress: mean,
      ...(typeof before === "number" && { student: before }),
      promoted: Number(promoted),
      readable: readable / Math.max(1, annotated.trajectories.length),
    };
  };
}
