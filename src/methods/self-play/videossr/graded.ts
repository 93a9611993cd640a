import type { Ctx } from "../../../core/context.ts";
import { listOf } from "../../../core/json.ts";
import type { Data, Feedback } from "../../../core/slots.ts";
import type { Id, Task, Trajectory } from "../../../core/types.ts";
import { type UniformState, uniform } from "../../../data/uniform.ts";
import { gradeOf } from "./grades.ts";
import { kindOf, truthOf } from "./pretexts.ts";

const gradeAt = (task: Task, { turns }: Trajectory): number =>
  gradeOf(kindOf(task), turns.at(-1)?.action.content ?? "", truthOf(task));

/**
 * The graded reward of each answer on channel "outcome", in place of the environment's exact one; none for a failed episode. The
 * task's metadata has its `kind` and `truth`.
 * Paper: "VideoSSR: Video Self-Supervised Reinforcement Learning".
 */
export const graded =
  (): Feedback =>
  async (ctx, { trajectories }) =>
    trajectories
      .filter(({ end }) => end.kind !== "failed")
      .map((t) => ({
        kind: "reward",
        channel: "outcome",
        about: [{ trajectory: t.id }],
        value: gradeAt(ctx.task(t.task), t),
        source: "what was done to the video",
      }));

/**
 * Leaves out tasks that teach nothing. Before the first iteration the policy answers every task a few times;
 * a task is kept where the grades are neither all 0 nor all 1:
 *
 *     keep x where not (all r_g = 0) and not (all r_g = 1),   y_1 … y_G ~ π_0(· | x)
 *
 * From the kept tasks it then chooses uniformly. Where none is kept, all are. The answers count as episodes of the run.
 * Paper: "VideoSSR: Video Self-Supervised Reinforcement Learning".
 */
export function informative(options: {
  readonly tasks: number;
  readonly answers: number;
}): Data<UniformState> {
  const each = uniform({ tasks: options.tasks });
  const stored = "informative";
  return {
    ...each,
    name: "informative",
    async choose(ctx, all, state) {
      const known = listOf(ctx.memory.get(stored)).map(String);
      const kept = known.length > 0 ? known : await probed(ctx, all, options.answers);
      if (known.length === 0) ctx.memory.set(stored, kept);
      return each.choose(
        ctx,
        all.filter(({ id }) => kept.includes(id)),
        state,
      );
    },
  };
}

async function probed(ctx: Ctx, all: readonly Task[], answers: number): Promise<Id[]> {
  const kept = await Promise.all(
    all.map(async (task) => {
      const plays = Array.from({ length: answers }, (_, i) =>
        ctx.play({ task: task.id, attempt: firstProbe + i }),
      );
      const grades = (await Promise.all(plays)).flat().map((t) => gradeAt(task, t));
      return grades.every((r) => r <= 0) || grades.every((r) => r >= 1) ? [] : [task.id];
    }),
  );
  return kept.flat().length > 0 ? kept.flat() : all.map(({ id }) => id);
}

/** Attempt numbers of the probes, apart from those of training. */
const firstProbe = 1_000_000;
