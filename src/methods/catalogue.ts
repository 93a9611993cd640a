/**
 * The catalogue, read from the folders next to this file: adding or deleting a folder changes it. For the package, the
 * build replaces the directory scan by static imports (scripts/build.ts).
 */
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { type CatalogueEntry, commandFor } from "../method/entry.ts";
import type { Recipe } from "../method/method.ts";
import { entryIn, moduleOf, paperFolders } from "./folders.ts";

/** Everything in the package that comes from a paper, by family and id: methods, diagnostics and benchmarks. */
export const catalogue: readonly CatalogueEntry[] = await Promise.all(
  paperFolders.map(async (folder) => entryIn(folder.id, await moduleOf(folder))),
);

/** The methods of the catalogue: what can be trained. */
export const methods: readonly Recipe[] = catalogue.filter((entry) => entry.kind === "method");

/**
 * The entry of the catalogue with that id.
 * @throws WhetstoneError `name.unknown`, with the nearest name.
 */
export function findEntry(id: string): CatalogueEntry {
  const found = catalogue.find((entry) => entry.id === id);
  if (found) return found;
  throw unknownName(
    "catalogue",
    id,
    catalogue.map((entry) => entry.id),
  );
}

/**
 * The method with that id.
 * @param where names the place where the id was written, in errors. Default "method".
 * @throws WhetstoneError `name.unknown`, with the nearest name; `config.invalid` for a diagnostic or a benchmark.
 */
export function findMethod(id: string, where = "method"): Recipe {
  const found = catalogue.find((entry) => entry.id === id);
  if (found?.kind === "method") return found;
  if (!found) {
    throw unknownName(
      where,
      id,
      methods.map((m) => m.id),
    );
  }
  throw new WhetstoneError("config.invalid", {
    where: `${where} "${id}"`,
    got: `a ${found.kind}, which trains nothing`,
    expected: "a method",
    fix: `Run whetstone ${commandFor(found)}, or choose a method.`,
  });
}
