/** The papers' folders: `<family>/<id>/`, each with everything that belongs to one method alone. */
import { globSync } from "node:fs";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { CatalogueEntry } from "../method/entry.ts";

export interface PaperFolder {
  readonly id: string;
  readonly family: string;
  readonly path: string;
}

/** Every paper's folder, by family and id. */
export const paperFolders: readonly PaperFolder[] = globSync("*/*/method.{ts,js}", {
  cwd: import.meta.dirname,
})
  .map((file) => file.split(/[\\/]/))
  .map(([family = "", id = ""]) => ({ id, family, path: join(import.meta.dirname, family, id) }))
  .sort((a, b) => a.family.localeCompare(b.family) || a.id.localeCompare(b.id));

/** The folder of a method; undefined for an unknown name. */
export const paperFolder = (id: string): PaperFolder | undefined =>
  paperFolders.find((folder) => folder.id === id);

/** Loads the module of a paper's folder. */
export const moduleOf = ({ path }: PaperFolder): Promise<object> =>
  import(pathToFileURL(`${path}/method${extname(import.meta.url)}`).href);

/** The one entry that the module of a paper's folder exports. */
export function entryIn(id: string, exported: object): CatalogueEntry {
  const found = Object.values(exported as Exports).find((value) => value?.id === id);
  if (!found) throw new Error(`the folder of "${id}" exports no entry with this id`);
  return found;
}

type Exports = Readonly<Record<string, CatalogueEntry | undefined>>;
