/** Tasks that are held out, however a piece came by them: by their ids, or by a prompt that no training task has. */
import { WhetstoneError } from "../core/errors.ts";
import type { Id, Task } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";

/** What may not be trained on: the tasks of every split but "train". */
export interface HeldOut {
  /**
   * Whether a task is a held-out one, a variant of one, or asks the same: its prompt is that of a held-out task and of no training
   * task.
   */
  has(task: Pick<Task, "id" | "prompt" | "metadata">): boolean;
  /** Whether a task of this id is held out. */
  hasId(id: Id): boolean;
}

/** Nothing is held out. */
export const nothingHeldOut: HeldOut = { has: () => false, hasId: () => false };

/** The tasks of every split but "train". */
export const heldOutTasks = (environment: Pick<Environment, "splits" | "tasks">): readonly Task[] =>
  environment.splits.filter((name) => name !== "train").flatMap((name) => environment.tasks(name));

/** Made when it is first needed. */
export function heldOutOf(environment: Pick<Environment, "splits" | "tasks">): HeldOut {
  let made: { readonly ids: ReadonlySet<Id>; readonly prompts: ReadonlySet<string> } | undefined;
  const known = () => {
    if (made) return made;
    const training = environment.tasks("train");
    const held = heldOutTasks(environment);
    const [trainedIds, trainedPrompts] = [
      new Set(training.map(({ id }) => id)),
      new Set(training.map(({ prompt }) => saidIn(prompt))),
    ];
    made = {
      ids: new Set(held.flatMap(({ id }) => (trainedIds.has(id) ? [] : [id]))),
      prompts: new Set(held.map(({ prompt }) => saidIn(prompt)).filter((said) => !trainedPrompts.has(said))),
    };
    return made;
  };
  const hasId = (id: Id): boolean => known().ids.has(id);
  return {
    hasId,
    has({ id, prompt, metadata: { variantOf } }) {
      return (
        hasId(id) ||
        (typeof variantOf === "string" && hasId(variantOf)) ||
        known().prompts.has(saidIn(prompt))
      );
    },
  };
}

/** The words of a prompt, so that spaces do not tell tasks apart. */
const saidIn = (prompt: Task["prompt"]): string =>
  JSON.stringify(prompt.map(({ role, content }) => [role, content.split(/\s+/).filter(Boolean).join(" ")]));

/** @param where it would have been trained on. */
export const heldOutTask = (where: string): WhetstoneError =>
  new WhetstoneError("capability.missing", {
    where,
    got: "a held-out task, a variant of one, or one with its prompt",
    expected: "tasks to train on",
    fix: "Return made tasks from the data slot, which drops such ones, or compare them with nothing that is measured.",
  });
