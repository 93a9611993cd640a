import { asReserved } from "../common/artefacts/reserved.ts";
import { mapById } from "../common/mapById.ts";
import type { Json } from "../core/json.ts";
import { shuffled } from "../core/random.ts";
import type { Data } from "../core/slots.ts";
import type { Id } from "../core/types.ts";

/** Settings of {@link reserved}. */
export interface ReservedOptions {
  /** Number of tasks to hold back, drawn once; at most half of all tasks. */
  readonly tasks: number;
}

/** Ids of the held-back tasks, and the state of the data piece that chooses among the rest. */
export type ReservedState<State extends Json> = Readonly<Record<string, Json>> & {
  readonly held: readonly Id[];
  readonly each: State | null;
};

/**
 * Excludes some tasks from training for the whole run and uses them as a validation set for selecting artefacts. An
 * iteration's tasks are those that `each` chooses from the rest, followed by all held-back ones in a fixed order;
 * `isReserved` distinguishes them.
 */
export function reserved<State extends Json>(
  each: Data<State>,
  { tasks: count }: ReservedOptions,
): Data<ReservedState<State>> {
  return {
    name: `${each.name}, some held back`,
    init: () => ({ held: [], each: null }),
    async choose(ctx, tasks, state) {
      const most = Math.min(count, Math.floor(tasks.length / 2));
      const held =
        state.held.length > 0
          ? state.held
          : shuffled(
              tasks.map(({ id }) => id),
              ctx.random,
            ).slice(0, most);
      const out = new Set(held);
      const rest = tasks.filter(({ id }) => !out.has(id));
      const byId = mapById(tasks);
      const inner = { ...ctx, random: ctx.random.split("rest") };
      const chosen = await each.choose(inner, rest, state.each ?? each.init(rest));
      return {
        tasks: [...chosen.tasks, ...held.flatMap((id) => byId.get(id) ?? []).map(asReserved)],
        next: { held, each: chosen.next },
      };
    },
    observe: async (ctx, annotated, state) =>
      state.each === null ? state : { ...state, each: await each.observe(ctx, annotated, state.each) },
  };
}
