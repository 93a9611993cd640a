/** Modules that users write: configs and environments. */
import { existsSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isWhetstoneError, messageOf, WhetstoneError } from "../core/errors.ts";

/** The default export of a file. @throws WhetstoneError `config.invalid` when there is none. */
export async function loadModule(file: string): Promise<unknown> {
  const path = resolve(file);
  const broken = (got: string, expected: string, mend: string, cause?: unknown) =>
    new WhetstoneError("config.invalid", { where: basename(file), got, expected, mend, cause });
  if (!existsSync(path)) throw broken("no such file", "a module", "Check the path.");
  if (statSync(path).isDirectory())
    throw broken("a folder", "a module", `Name the file in it, such as ${join(file, "environment.ts")}.`);
  if (/\.[cm]?ts$/.test(file) && !process.features.typescript) {
    throw broken(
      `TypeScript on Node ${process.versions.node}`,
      "Node 22.18 or newer to read it",
      "Update Node, or write the file in JavaScript.",
    );
  }
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module;
  } catch (e) {
    if (isWhetstoneError(e)) throw e; // it says itself what is wrong
    throw broken(
      `"${messageOf(e).split("\n")[0]}" while loading it`,
      "a module that loads",
      "Correct the file.",
      e,
    );
  }
  if (module.default !== undefined) return module.default;
  throw broken("no default export", "one", "Write export default in front of what the file is about.");
}
