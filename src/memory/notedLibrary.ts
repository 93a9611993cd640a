/** A library that a learner keeps in its run's memory, noted as versions of an artefact: for people, and to be told elsewhere. */

import { joinedOrigins, originsIn } from "../common/artefacts/origins.ts";
import type { CaseMemory, ExperienceLibrary } from "../core/artefact.ts";
import type { Ctx } from "../core/context.ts";
import { textOf } from "../core/json.ts";
import type { Id } from "../core/types.ts";

type Library = ExperienceLibrary | CaseMemory;

/**
 * Notes the library as it stands after every `every`th iteration and the last one, made from the version before it, without
 * the parts that give a held-out task away. It is not in force by that; an empty one is no version.
 */
export function noteLibrary(
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
