/** The papers' folders: `<family>/<id>/`, each with everything that belongs to one method alone. */
import { globSync } from "node:fs";
import { join } from "node:path";

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
