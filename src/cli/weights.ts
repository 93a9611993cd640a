/** The weights that people mean when they name a run, its folder, or the folder of a checkpoint. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { WhetstoneError } from "../core/errors.ts";
import { isGguf } from "../engine/local/gguf/model.ts";
import { findCheckpoint } from "../train/checkpoint.ts";
import { type RunRecord, readRunRecord } from "./runRecord.ts";
import { existingStore, requireRun } from "./runs.ts";

/** A run's record and the folder that it lies in. */
export type Found = RunRecord & { readonly at: string };

/** What a name stands for. */
export interface FoundWeights {
  readonly folder: string;
  /** Where `Engine.open` finds them. */
  readonly weights: string;
  readonly begun: Found | undefined;
}

/**
 * @param where the command, for errors. @param store the file that runs are listed in.
 * @throws WhetstoneError `checkpoint.missing`.
 */
export async function findWeights(where: string, name: string, store: string): Promise<FoundWeights> {
  const folder = existsSync(name) ? name : await folderOf(where, name, store);
  return { folder, ...(await weightsOf(where, folder)) };
}

/** The weights that a folder stands for, and the run around them where there is one. */
async function weightsOf(
  where: string,
  folder: string,
): Promise<{ readonly weights: string; readonly begun: Found | undefined }> {
  const isFile = !statSync(folder).isDirectory();
  const inGguf = isFile || existsSync(join(folder, "config.json")) ? [] : readdirSync(folder).filter(isGguf);
  const gguf = isFile && isGguf(folder) ? folder : inGguf.length === 1 ? join(folder, inGguf[0]!) : undefined;
  if (gguf !== undefined) return { weights: gguf, begun: undefined };
  if (isFile) {
    throw new WhetstoneError("checkpoint.missing", {
      where,
      got: `${folder}, which is a file`,
      expected: "the folder of a run or of a checkpoint",
      fix: "Name the folder that the file lies in, or a GGUF file.",
    });
  }
  const begun = begunAt(folder);
  if (!existsSync(join(folder, "run.json"))) {
    const inside = join(folder, "models", "policy");
    const weights = existsSync(inside) ? inside : folder;
    if (readdirSync(weights).some((name) => name.endsWith(".json"))) return { weights, begun };
    throw new WhetstoneError("checkpoint.missing", {
      where,
      got: `${folder}, which holds no model`,
      expected: "the folder of a run or of a checkpoint",
      fix: "Name a run's folder, or its `final` or `best`.",
    });
  }
  // a run that ended, the best so far of one that has not, its last checkpoint
  for (const name of ["final", "best"])
    if (existsSync(join(folder, name))) return { weights: join(folder, name), begun };
  const last = await findCheckpoint(folder);
  if (last) return { weights: join(last.folder, "models", "policy"), begun };
  throw new WhetstoneError("checkpoint.missing", {
    where,
    got: `a run without a checkpoint in ${folder}`,
    expected: "one that has saved at least once",
    fix: "Go on with it by --resume, or name another.",
  });
}

/** What the nearest run.json says, in the folder or above it. */
function begunAt(folder: string): Found | undefined {
  let at = resolve(folder);
  for (let up = 0; up < 5; up++) {
    const begun = readRunRecord(at);
    if (begun) return { ...begun, at };
    at = dirname(at);
  }
  return undefined;
}

async function folderOf(where: string, name: string, file: string): Promise<string> {
  if (!existsSync(file)) {
    throw new WhetstoneError("checkpoint.missing", {
      where,
      got: `"${name}", which is no folder, and no store ${file} to find a run in`,
      expected: "a run or a checkpoint",
      fix: "Give the folder of a run or checkpoint, or --store.",
    });
  }
  const store = await existingStore(file);
  try {
    return (await requireRun(store, name)).folder;
  } finally {
    await store.close();
  }
}
