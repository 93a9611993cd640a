/** Tasks that a proposer wrote during the run. */
import { randomStream } from "../core/random.ts";
import type { Id, Task } from "../core/types.ts";

/**
 * A task with what it asks for replaced by a text: it starts in the same place, and has a seed of its own.
 * @param reference the proposer's answer. Without it only an evaluator can tell whether the task was done.
 */
export function asProposed({ reference: _, ...given }: Task, text: string, id: Id, reference?: string): Task {
  return {
    ...given,
    id,
    prompt: [...given.prompt.slice(0, -1), { role: "user", content: text }],
    ...(reference === undefined ? {} : { reference }),
    metadata: { ...given.metadata, proposed: true },
    seed: randomStream(given.seed).split(id).seed,
  };
}
