/** Tasks to be played in an experience model instead of the real environment. */
import type { Task } from "../../../core/types.ts";

/** The same task, played in the environment's experience model. An environment without one plays it for real. */
export const imaginedTask = (task: Task): Task => ({
  ...task,
  metadata: { ...task.metadata, imagined: true },
});

export const isImagined = (task: Task): boolean => task.metadata.imagined === true;
