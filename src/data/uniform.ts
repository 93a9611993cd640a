import { mapById } from "../common/mapById.ts";
import { shuffled } from "../core/random.ts";
import type { Data } from "../core/slots.ts";
import type { Id, Task } from "../core/types.ts";

/** Settings of {@link uniform}. */
export interface UniformOptions {
  /** Training tasks per iteration. Default 8. */
  readonly tasks?: number;
}

/** The current pass over the tasks, and the position in it. */
export interface UniformState extends Readonly<Record<string, number | readonly Id[]>> {
  readonly epoch: number;
  /** Ids of this pass, in order. */
  readonly order: readonly Id[];
  /** Number of tasks of this pass that were used. */
  readonly cursor: number;
}

/** Shuffled passes over the tasks: every task is used once before any is repeated, and never twice in an iteration. */
export function uniform({ tasks: perIteration = 8 }: UniformOptions = {}): Data<UniformState> {
  return {
    name: "uniform",
    init: () => ({ epoch: 0, order: [], cursor: 0 }),
    choose: async ({ random }, tasks, state) => {
      const byId = mapById(tasks);
      const training = new Map<Id, Task>();
      let { epoch, order, cursor } = state;
      const wanted = Math.min(perIteration, byId.size);
      while (training.size < wanted) {
        if (cursor >= order.length) {
          order = shuffled([...byId.keys()], random.split("pass", epoch));
          // tasks already in this iteration move to the end of the new pass
          order = [...order.filter((id) => !training.has(id)), ...order.filter((id) => training.has(id))];
          epoch++;
          cursor = 0;
        }
        const task = byId.get(order[cursor++] ?? "");
        if (task) training.set(task.id, task);
      }
      return { tasks: [...training.values()], next: { epoch, order, cursor } };
    },
    observe: async (_ctx, _evidence, state) => state,
  };
}
