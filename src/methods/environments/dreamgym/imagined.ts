/** Tasks to be played in an experience model instead of the real thing. */
import type { Task } from "../../../core/types.ts";

/** The same task, played in the environment's experience model. An environment without one plays it as ever. */
export const imaginedTask = (task: Task): Task => ({
  ...task,
  metadata: { ...task.metadata, imagined: true },
});

export const isImagined = (task: Task): boolean => task.metadata.imagined === true;
