import type { Json } from "../../../core/json.ts";
import type { Data } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";

/**
 * Training on a subset of the tasks: wraps a curriculum that sees only these. It has its own state, so that one phase of a
 * method may train on tasks that another leaves out. If no task matches, all tasks are kept.
 * @param name distinguishes the states of several filters.
 */
export function filtered<State extends Json>(
  name: string,
  keep: (task: Task) => boolean,
  of: Data<State>,
): Data<State> {
  const kept = (tasks: readonly Task[]): readonly Task[] => {
    const some = tasks.filter(keep);
    return some.length > 0 ? some : tasks;
  };
  return {
    name: `${of.name}, ${name}`,
    init: (tasks) => of.init(kept(tasks)),
    choose: (ctx, tasks, state) => of.choose(ctx, kept(tasks), state),
    observe: (ctx, annotated, state) => of.observe(ctx, annotated, state),
  };
}
