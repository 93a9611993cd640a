/** A judge's library as an artefact that can be read, edited and versioned. */

import { writtenBy } from "../../../common/artefacts/origins.ts";
import { type ArtefactVersion, artefactId, artefactVersion, type RubricSet } from "../../../core/artefact.ts";
import type { RubricLibrary } from "../../../core/rubrics.ts";
import type { Id } from "../../../core/types.ts";
import type { Evolution } from "../../../memory/rubrics/evolve.ts";

export const rubricArtefact = ({ rubrics }: RubricLibrary, origins = writtenBy("reflection")): RubricSet => ({
  kind: "rubrics",
  rubrics,
  origins,
});

/**
 * The libraries that an evolution kept, as versions in order, each derived from the previous one with a reason. A library
 * with the same text as an earlier one is that version.
 * @param created milliseconds since 1970.
 */
export function rubricVersions(
  { versions, best }: Pick<Evolution, "versions" | "best">,
  name: string,
  created: number,
): readonly ArtefactVersion<RubricSet>[] {
  const deployed = artefactId(rubricArtefact(best.library));
  const made = new Map<Id, ArtefactVersion<RubricSet>>();
  let parents: readonly Id[] = [];
  for (const { library, accuracy, why } of versions) {
    const artefact = rubricArtefact(library);
    const goes = artefactId(artefact) === deployed ? "; the judge goes by it" : "";
    const version = artefactVersion({
      name,
      artefact,
      parents,
      why: `${why}: right on ${(100 * accuracy).toFixed(1)} % of the held-out pairs${goes}`,
      origins: artefact.origins,
      created,
    });
    if (!made.has(version.id)) made.set(version.id, version);
    parents = [version.id];
  }
  return [...made.values()];
}
