/** Records a learner's library, which lives in the run's memory, as versions of an artefact, for inspection and for use elsewhere. */

import { joinedOrigins, originsIn } from "../common/artefacts/origins.ts";
import type { CaseMemory, ExperienceLibrary } from "../core/artefact.ts";
import type { Ctx } from "../core/context.ts";
import { textOf } from "../core/json.ts";
import type { Id } from "../core/types.ts";

type Library = ExperienceLibrary | CaseMemory;

/**
 * Records the library after every `every`th iteration and after the last one, with the previous version as parent and
 * without the parts that leak a held-out task. The version does not become current; an empty library is not recorded.
 */
export function recordLibraryUse(
  ctx: Pick<Ctx, "clock" | "memory" | "artefacts">,
  name: string,
  library: () => Library,
  every = 10,
): void {
  const { iteration, iterations = Number.POSITIVE_INFINITY } = ctx.clock;
  if ((iteration + 1) % every !== 0 && iteration + 1 < iterations) return;
  const key = `${name} version`;
  const before = textOf(ctx.memory.get(key));
  const proposed = (artefact: Library) => {
    const origins = originsIn(artefact);
    return ctx.artefacts.propose({
      name,
      artefact,
      parents: before === undefined ? [] : [before],
      why: `after iteration ${iteration + 1}: ${origins.length} ${name}`,
      origins: joinedOrigins("rollout", origins),
    });
  };
  const whole = library();
  if (originsIn(whole).length === 0) return;
  const first = proposed(whole);
  const made = "id" in first ? first : proposed(without(whole, new Set(first.refused)));
  if ("id" in made) ctx.memory.set(key, made.id);
}

function without(library: Library, ids: ReadonlySet<Id>): Library {
  return library.kind === "experience"
    ? { ...library, entries: library.entries.filter(({ id }) => !ids.has(id)) }
    : { ...library, cases: library.cases.filter(({ id }) => !ids.has(id)) };
}
