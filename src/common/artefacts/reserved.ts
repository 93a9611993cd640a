/** Tasks that a learner without weights selects on, among those of an iteration. */
import type { Task } from "../../core/types.ts";

const mark = "held back";

/** The task as one to select on, and not to practise. */
export const asHeldBack = (task: Task): Task => ({ ...task, metadata: { ...task.metadata, [mark]: true } });

export const isHeldBack = ({ metadata }: Task): boolean => metadata[mark] === true;
