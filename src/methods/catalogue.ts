/**
 * The catalogue of all methods, read from the folders next to this file: adding or deleting a folder changes it. For the
 * package, the build replaces the directory scan by static imports (scripts/build.ts).
 */
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import { unknownName } from "../common/text/suggest.ts";
import type { Recipe } from "../method/method.ts";
import { paperFolders } from "./folders.ts";

type Exports = Readonly<Record<string, Recipe | undefined>>;

/** The one method or diagnostic that the module of a method's folder exports. */
function methodOf(id: string, exported: object): Recipe {
  const found = Object.values(exported as Exports).find((value) => value?.id === id);
  if (!found) throw new Error(`the folder of "${id}" exports no method with this id`);
  return found;
}

const moduleOf = (path: string): Promise<object> =>
  import(pathToFileURL(`${path}/method${extname(import.meta.url)}`).href);

/** Every method and diagnostic that the package contains, by family and id. */
export const methods: readonly Recipe[] = await Promise.all(
  paperFolders.map(async ({ id, path }) => methodOf(id, await moduleOf(path))),
);

/** @throws WhetstoneError `name.unknown`, with the nearest name. */
export function findMethod(id: string, among: readonly Recipe[] = methods): Recipe {
  const found = among.find((m) => m.id === id);
  if (found) return found;
  throw unknownName(
    "method",
    id,
    among.map((m) => m.id),
  );
}
