/** Modules that users write: configs and environments. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isWhetstoneError, messageOf, WhetstoneError } from "../core/errors.ts";

/** The default export of a file. @throws WhetstoneError `config.invalid` when there is none. */
export async function loadModule(file: string): Promise<unknown> {
  const path = resolve(file);
  const broken = (got: string, expected: string, fix: string, cause?: unknown) =>
    new WhetstoneError("config.invalid", { where: basename(file), got, expected, fix, cause });
  if (!existsSync(path)) throw broken("no such file", "a module", "Check the path.");
  if (statSync(path).isDirectory())
    throw broken("a folder", "a module", `Name the file in it, such as ${join(file, "environment.ts")}.`);
  if (/\.[cm]?ts$/.test(file) && !process.features.typescript) {
    throw broken(
      `TypeScript on Node ${process.versions.node}`,
      "a version that runs TypeScript: 22.18, 24 or newer",
      "Update Node, or write the file in JavaScript.",
    );
  }
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module;
  } catch (e) {
    if (isWhetstoneError(e)) throw e; // it says itself what is wrong
    const at = placeOf(e) ?? path;
    const commonJs = outsideModule.test(messageOf(e)) ? commonJsPackage(at) : undefined;
    if (commonJs !== undefined) {
      throw broken(
        `an ES module, which ${commonJs} makes Node read as CommonJS`,
        '"type": "module" there',
        `Write that in place of "commonjs", or rename ${basename(at)} to ${basename(at).replace(/\.([jt]s)$/, ".m$1")}.`,
        e,
      );
    }
    throw broken(
      `"${messageOf(e).split("\n")[0]}" while loading it`,
      "a module that loads",
      fixOf(messageOf(e)),
      e,
    );
  }
  if (module.default !== undefined) return module.default;
  throw broken(
    "no default export",
    "one",
    "Write export default in front of the value that the file defines.",
  );
}

/** A clone's own files import the package by its name from `dist/`, which is there once it was built. */
const unbuilt = `Cannot find module '${join(import.meta.dirname, "..", "..", "dist")}`;

function fixOf(message: string): string {
  if (message.startsWith(unbuilt)) return "Build this clone of Whetstone first: npm run build.";
  return message.startsWith("Cannot find package")
    ? "Install the package in the folder of the file; a folder that whetstone init makes has whetstone."
    : "Correct the file.";
}

/** What Node says of a module's syntax in a file that it reads as CommonJS. */
const outsideModule = /outside a module|Unexpected token 'export'|bodies of modules/;

/** The file that an error of syntax is in: it may be one that was imported. */
function placeOf(e: unknown): string | undefined {
  const place = e instanceof Error ? /^(.+?):\d+\n/.exec(e.stack ?? "")?.[1] : undefined;
  return place?.startsWith("file:") ? fileURLToPath(place) : place;
}

/** The package.json that a file belongs to, where that makes it CommonJS, as the one of `npm init -y` does. */
function commonJsPackage(path: string): string | undefined {
  if (!/\.[jt]s$/.test(path)) return undefined;
  for (let at = dirname(path); ; at = dirname(at)) {
    const file = join(at, "package.json");
    if (existsSync(file))
      return /"type"\s*:\s*"commonjs"/.test(readFileSync(file, "utf8")) ? file : undefined;
    if (dirname(at) === at) return undefined;
  }
}
