/** An artefact in a request body: its files, by the names that they have in an artefact folder. */
import { z } from "zod";
import { writtenBy } from "../common/artefacts/origins.ts";
import { unknownName } from "../common/text/suggest.ts";
import { type ArtefactVersion, artefactKinds, artefactVersion } from "../core/artefact.ts";
import { artefactNamed } from "../store/artefactNamed.ts";
import type { ArtefactStore } from "../store/artefacts.ts";
import { artefactFileNames, readArtefactFiles } from "../store/artefactText.ts";

export const inlineArtefact = z.strictObject({
  name: z.string().min(1).max(256),
  kind: z.enum(artefactKinds),
  /** Texts by file name. */
  files: z.record(z.string().max(256), z.string()),
  why: z.string().min(1).max(2000).optional(),
  /** Artefact versions in the store that it was made from, by id or name. */
  parents: z.array(z.string().min(1).max(256)).max(2).optional(),
});

/**
 * Parses the body into an artefact version. The caller adds the version to the store.
 * @param now milliseconds since 1970. @throws WhetstoneError `import.invalid`; `name.unknown` for a file name that the kind does not have.
 */
export async function artefactInline(
  { name, kind, files, why = "sent over HTTP", parents = [] }: z.output<typeof inlineArtefact>,
  kept: ArtefactStore,
  now: number,
): Promise<ArtefactVersion> {
  const names = artefactFileNames[kind];
  const strange = Object.keys(files).find((file) => !names.includes(file));
  if (strange !== undefined) throw unknownName("artefact.files", strange, names);
  const made = await Promise.all(parents.map((one) => artefactNamed(kept, one, "artefact.parents")));
  return artefactVersion({
    name,
    artefact: readArtefactFiles(kind, files),
    parents: made.map(({ id }) => id),
    why,
    origins: writtenBy("person"),
    created: now,
  });
}
