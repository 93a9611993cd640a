/** Finds an artefact version by its id, the beginning of its id, or its name. */

import { unknownName } from "../common/text/suggest.ts";
import type { ArtefactVersion } from "../core/artefact.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { ArtefactStore, ArtefactSummary } from "./artefacts.ts";

/**
 * Finds an artefact version by its id, the beginning of its id, or its name; of several with one name, the last.
 * @param where the option or field with the name, for errors. @throws WhetstoneError `name.unknown`.
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
    fix: "Import one with: whetstone artefacts import FILE",
  });
