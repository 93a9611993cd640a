import type { Task } from "../../../core/types.ts";
import type { Teacher } from "../../../worlds/tryAgain.ts";

/**
 * The control for learning from words: a teacher who speaks of the same replies, but of another task, any of these. Who
 * succeeds as well with it has not made use of what was said.
 * Paper: "Improving Interactive In-Context Learning from Natural Language Feedback".
 */
export function mistaught(teacher: Teacher, tasks: readonly Task[]): Teacher {
  return (lesson) => {
    const others = tasks.filter(({ id }) => id !== lesson.task.id);
    const task = others[lesson.random.split("another task").below(others.length)] ?? lesson.task;
    return teacher({ ...lesson, task });
  };
}
