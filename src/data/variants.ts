/** Variants of a task: the same question with the same answer, asked in an easier format. */
import type { Ctx } from "../core/context.ts";
import { randomStream } from "../core/random.ts";
import type { Id, Task } from "../core/types.ts";

/**
 * Formats in which a task can be asked, easiest first; the last one is the task as it is. An environment that has easier
 * formats lists their names in `metadata.formats`, and asks a task in the one that `metadata.format` names. Empty for others.
 */
export function formatsOf(task: Task): readonly string[] {
  const { formats } = task.metadata;
  return Array.isArray(formats) ? formats.filter((name) => typeof name === "string") : [];
}

/**
 * A task asked in a format: a new task with its own seed, so that each visit draws other choices. The last format, and one
 * that the task does not have, is the task itself.
 * @param visit number of times that the task was asked before.
 */
export function posed(task: Task, format: string, visit: number): Task {
  const formats = formatsOf(task);
  if (!formats.includes(format) || format === formats.at(-1)) return task;
  return {
    ...task,
    id: `${task.id}#${format.replaceAll(" ", "-")}#${visit}`,
    metadata: { ...task.metadata, format, variantOf: task.id },
    seed: randomStream(task.seed).split(format, visit).seed,
  };
}

/** Id of the training task that a task of this iteration is, or is a variant of. */
export function originalOf(ctx: Pick<Ctx, "task">, id: Id): Id {
  const { variantOf } = ctx.task(id).metadata;
  return typeof variantOf === "string" ? variantOf : id;
}
