import type { Json } from "../../../core/json.ts";
import type { Data } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";

/**
 * Practice on some of the tasks alone: another curriculum that sees no others. Its state is its own, so that one phase of
 * a method may practise what another leaves out. Where no task is kept, all of them are.
 * @param name tells the states of several apart.
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
    choose: (tasks, state, random, clock) => of.choose(kept(tasks), state, random, clock),
    observe: (evidence, state, clock) => of.observe(evidence, state, clock),
  };
}
