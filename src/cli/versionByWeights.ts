/** A version that is a run's weights. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Version } from "../core/served.ts";
import { versionOf } from "../serve/gateway/open.ts";
import { findWeights } from "./weights.ts";

/**
 * Weights that were written anew are another version.
 * @param where the command or flag, for errors. @param store the file that runs are listed in.
 * @throws WhetstoneError `checkpoint.missing`.
 */
export async function versionByWeights(where: string, run: string, store: string): Promise<Version> {
  const { weights } = await findWeights(where, run, store);
  const written = filesOf(weights).map((path) => statSync(path).mtimeMs);
  return versionOf({ kind: "run", folder: weights }, Date.now(), String(Math.max(...written)));
}

/** A GGUF file, or the files of a folder. */
const filesOf = (weights: string): string[] =>
  statSync(weights).isDirectory() ? readdirSync(weights).map((name) => join(weights, name)) : [weights];
