import type { Task } from "../../../core/types.ts";
import type { Teacher } from "../../../worlds/tryAgain.ts";

/**
 * The control for learning from feedback: a teacher that gives feedback on the same replies for another task, drawn from
 * these. A policy with equal success under this teacher does not use the feedback.
 * Paper: "Improving Interactive In-Context Learning from Natural Language Feedback".
 */
export function mistaught(teacher: Teacher, tasks: readonly Task[]): Teacher {
  return (lesson) => {
    const others = tasks.filter(({ id }) => id !== lesson.task.id);
    const task = others[lesson.random.split("another task").below(others.length)] ?? lesson.task;
    return teacher({ ...lesson, task });
  };
}
