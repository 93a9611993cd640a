/** Where the running package comes from, so that a project of its own can install the same one. */
import { readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { z } from "zod";

const manifest = z.object({ dependencies: z.object({ whetstone: z.string() }) });

/**
 * The version that a new project names in its `package.json`.
 * @param root the folder of the running package.
 * @returns a path to the tarball if the package was installed from one; undefined for a clone, which is no package yet.
 */
export function packageSource(root: string): string | undefined {
  const at = root.lastIndexOf(`${sep}node_modules${sep}`);
  if (at < 0) return undefined;
  const project = root.slice(0, at);
  const stated = manifest.safeParse(readJson(join(project, "package.json"))).data?.dependencies.whetstone;
  if (stated?.startsWith("file:")) return `file:${resolve(project, stated.slice("file:".length))}`;
  return stated ?? "^0.1.0";
}

/** Whether a folder is that of a project which uses Whetstone. */
export const isProject = (folder: string): boolean =>
  manifest.safeParse(readJson(join(folder, "package.json"))).success;

export function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
