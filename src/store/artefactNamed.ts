/** A version of an artefact as people name it. */

import { unknownName } from "../common/text/suggest.ts";
import type { ArtefactVersion } from "../core/artefact.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { ArtefactStore, ArtefactSummary } from "./artefacts.ts";

/**
 * A version of the store by its id, how that begins, or a name, of which the last one counts.
 * @param where what named it, for errors. @throws WhetstoneError `name.unknown`.
 */
export async function artefactNamed(
  store: ArtefactStore,
  text: string,
  where: string,
): Promise<ArtefactVersion> {
  const all = await store.list();
  const named = all.filter(({ id, name }) => id === text || name === text).at(-1);
  const begun = all.filter(({ id }) => text !== "" && id.startsWith(text));
  const found: ArtefactSummary | undefined = named ?? (begun.length === 1 ? begun[0] : undefined);
  const version = found && (await store.get(found.id));
  if (version) return version;
  if (all.length === 0) throw noArtefacts(where, text);
  throw unknownName(where, text, [...new Set(all.flatMap(({ id, name }) => [name, id]))]);
}

const noArtefacts = (where: string, got: string): WhetstoneError =>
  new WhetstoneError("name.unknown", {
    where,
    got: `"${got}"`,
    expected: "an artefact, but the store has none yet",
    mend: "Bring one in with: whetstone artefacts import FILE",
  });
