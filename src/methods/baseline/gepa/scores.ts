/** Training and held-out tasks, and the rewards on them. */

import { isReserved } from "../../../common/artefacts/reserved.ts";
import type { InstructionSet } from "../../../core/artefact.ts";
import type { Ctx } from "../../../core/context.ts";
import { type Id, paid, type Task, type Trajectory } from "../../../core/types.ts";
import { instructionsOf } from "../../../memory/instructed.ts";

export const practisedOf = ({ tasks: training }: Ctx): readonly Task[] =>
  training.filter((task) => !isReserved(task));
export const heldBackOf = ({ tasks: training }: Ctx): readonly Task[] => training.filter(isReserved);

export const setOf = (ctx: Ctx, id: Id): InstructionSet => instructionsOf(ctx.artefacts.version(id));

/** Reward of each task; failed episodes do not count. */
export const scoresOf = (trajectories: readonly Trajectory[]): Record<Id, number> =>
  Object.fromEntries(trajectories.filter(({ end }) => end.kind !== "failed").map((t) => [t.task, paid(t)]));

export const sumOf = (scores: Readonly<Record<Id, number>>, tasks: readonly Id[]): number =>
  tasks.reduce((sum, task) => sum + (scores[task] ?? 0), 0);
