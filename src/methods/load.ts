/** One method of the catalogue without the others: reading all of them takes longer than most commands. */
import type { Recipe } from "../method/method.ts";
import { entryIn, moduleOf, paperFolder } from "./folders.ts";

/** Like `findMethod`, with the same errors; reads the folder of that method only. */
export async function loadMethod(id: string, where: string): Promise<Recipe> {
  const folder = paperFolder(id);
  const entry = folder && entryIn(id, await moduleOf(folder));
  if (entry?.kind === "method") return entry;
  // the error names what is near, for which all are read
  return (await import("./catalogue.ts")).findMethod(id, where);
}
