import { WhetstoneError } from "../../../core/errors.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Id, Task } from "../../../core/types.ts";

const ending = "#rewritten";

/** Id of the other view of a task. */
export const otherView = (id: Id): Id =>
  id.endsWith(ending) ? id.slice(0, -ending.length) : `${id}${ending}`;

/**
 * The same question in other words: a task of its own, with the same answer. The environment writes the words in
 * `metadata.rewritten`, and knows by `metadata.view` ("rewritten") which view it poses.
 * @throws WhetstoneError `capability.missing` where the task has no other words.
 */
export function rewritten(task: Task): Task {
  const { rewritten: words } = task.metadata;
  if (typeof words === "string")
    return {
      ...task,
      id: otherView(task.id),
      prompt: [...task.prompt.slice(0, -1), { role: "user", content: words }],
      metadata: { ...task.metadata, view: "rewritten" },
    };
  throw new WhetstoneError("capability.missing", {
    where: `task "${task.id}"`,
    got: "no metadata.rewritten",
    expected: "the question in other words, with the same answer",
    fix: "Let a model rewrite the questions beforehand, and put the text into the metadata of each task.",
  });
}

/** Settings of {@link bothViews}. */
export interface BothViewsOptions {
  /** Attempts at each view of a training task. Default 8. */
  readonly groupSize?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * Plays every training task as often in other words ({@link rewritten}): two groups for each question, sampled from the same policy.
 * Paper: "Co-Reward: Self-supervised Reinforcement Learning for Large Language Model Reasoning via Contrastive Agreement".
 */
export function bothViews({ groupSize = 8, temperature }: BothViewsOptions = {}): Rollout {
  return async (ctx) => {
    const plays = ctx.tasks
      .flatMap((task) => [task.id, rewritten(task)])
      .flatMap((task) =>
        Array.from({ length: groupSize }, (_, attempt) =>
          ctx.play({
            task,
            attempt,
            together: groupSize,
            ...(temperature === undefined ? {} : { temperature }),
          }),
        ),
      );
    const trajectories = (await Promise.all(plays)).flat();
    const units = trajectories
      .filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0)
      .map(({ id, task }) => ({ id, group: task, members: [id] }));
    return { trajectories, units };
  };
}
