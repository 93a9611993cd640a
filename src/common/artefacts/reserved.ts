/** Held-back tasks of an iteration: a learner without weights uses them to select among candidates. */
import type { Task } from "../../core/types.ts";

const mark = "held back";

/** The task, marked for selection and not for training. */
export const asReserved = (task: Task): Task => ({ ...task, metadata: { ...task.metadata, [mark]: true } });

/** Whether the task is marked for selecting among candidates, and so must not be learnt from. */
export const isReserved = ({ metadata }: Task): boolean => metadata[mark] === true;
