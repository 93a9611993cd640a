import type { Json } from "../../../core/json.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, succeeded, type Task } from "../../../core/types.ts";

/** The tasks that the first policy solved, null before they are known, and the state of the piece that chooses among them. */
export interface SolvableState<State extends Json> extends Readonly<Record<string, Json>> {
  readonly kept: readonly Id[] | null;
  readonly each: State | null;
}

/**
 * Keeps the tasks that the policy solves at least once in `attempts` attempts before training; the rest are never chosen.
 * Where it solves none, all are kept. These episodes count like any other. With 0 attempts nothing is dropped.
 * Paper: "ARPO: End-to-End Policy Optimization for GUI Agents with Experience Replay".
 */
export function solvable<State extends Json>(
  each: Data<State>,
  { attempts }: { readonly attempts: number },
): Data<SolvableState<State>> {
  return {
    name: `${each.name}, solvable`,
    init: () => ({ kept: null, each: null }),
    async choose(ctx, tasks, state) {
      const isSolved = async ({ id }: Task): Promise<boolean> => {
        // numbered apart from the attempts of the iteration
        const plays = Array.from({ length: attempts }, (_, i) =>
          ctx.play({ task: id, attempt: firstProbe + i }),
        );
        return attempts === 0 || (await Promise.all(plays)).flat().some(succeeded);
      };
      const probed = async (): Promise<Id[]> => {
        const solved = await Promise.all(tasks.map(isSolved));
        return tasks.flatMap(({ id }, i) => (solved[i] ? [id] : []));
      };
      const found = state.kept ?? (await probed());
      const kept = new Set(found.length > 0 ? found : tasks.map(({ id }) => id));
      const rest = tasks.filter(({ id }) => kept.has(id));
      const chosen = await each.choose(ctx, rest, state.each ?? each.init(rest));
      return { tasks: chosen.tasks, next: { kept: [...kept], each: chosen.next } };
    },
    observe: async (ctx, annotated, state) =>
      state.each === null ? state : { ...state, each: await each.observe(ctx, annotated, state.each) },
  };
}

const firstProbe = 1_000_000;
