/** The plan of an iteration: evaluate the first candidate, rewrite one, or merge two. */
import type { InstructionSet } from "../../../core/artefact.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Id, Task } from "../../../core/types.ts";
import { instructionsOf } from "../../../memory/instructed.ts";
import { type Merged, mergeOf, telling } from "./merge.ts";
import type { SearchSettings } from "./options.ts";
import { drawnParent } from "./pareto.ts";
import { type Member, type Pool, poolOf } from "./pool.ts";
import { practisedOf, setOf } from "./scores.ts";

export interface Plan {
  readonly pool: Pool | undefined;
  readonly parent?: Member;
  readonly merged?: Merged;
  /** Which candidate is played, and on which tasks. */
  readonly set: InstructionSet;
  readonly tasks: readonly Task[];
}

/** Deterministic within an iteration. */
export function planOf(ctx: Ctx, settings: SearchSettings): Plan {
  const pool = poolOf(ctx);
  const random = ctx.random.split("reflective search");
  const tasks = practisedOf(ctx);
  if (!pool) return { pool, set: settings.first ?? instructionsOf(ctx.artefacts.current()), tasks };
  const { merges, mergeTasks, characters } = settings;
  if (pool.found && pool.waiting > 0 && pool.merged < merges) {
    const tried = new Set(pool.tried);
    const sets = (id: Id): InstructionSet => setOf(ctx, id);
    const merged = mergeOf(pool.members, sets, tried, random.split("merge"), characters);
    const [a, b] = (merged?.of ?? []).map((id) => pool.members.find((one) => one.id === id));
    if (merged && a && b) {
      const ids = new Set(telling(a, b, mergeTasks, random.split("telling")));
      return { pool, merged, set: merged.set, tasks: ctx.tasks.filter(({ id }) => ids.has(id)) };
    }
  }
  const parent = drawnParent(pool.members, random.split("parent"));
  return { pool, parent, set: setOf(ctx, parent.id), tasks };
}
