/** Files that are wrong in every way, read one after the other; says how each was taken. */
import { join } from "node:path";
import { oneThread } from "../../src/sandbox/thread.ts";
import { fileKinds } from "./fileKinds.ts";
import type { FileJob, FileOutcome } from "./fileWorker.ts";

export interface FilesResult {
  /** By kind: how many were read, refused in one line, and took so long at most. */
  readonly kinds: ReadonlyMap<string, { read: number; refused: number; slowestMs: number }>;
  /** Errors that we did not foresee, or of several lines. */
  readonly unforeseen: readonly string[];
  /** Files that were not done with in time. */
  readonly hangs: readonly string[];
  /** Files that ended the thread, such as by filling the memory. */
  readonly crashes: readonly string[];
}

/** Seconds for one file. */
const patience = 30;

export async function fuzzFiles(
  folder: string,
  files: number,
  seed: number,
  { from = 0, only }: { readonly from?: number; readonly only?: string } = {},
): Promise<FilesResult> {
  const names = Object.keys(fileKinds).filter((name) => only === undefined || name === only);
  const kinds = new Map(names.map((name) => [name, { read: 0, refused: 0, slowestMs: 0 }]));
  const result = { kinds, unforeseen: [] as string[], hangs: [] as string[], crashes: [] as string[] };
  const thread = oneThread<FileJob, FileOutcome>(import.meta.url, "fileWorker", { seconds: patience });
  for (let n = from; n < from + files; n++) {
    const kind = names[n % names.length]!;
    const began = performance.now();
    const outcome = await thread.run({ kind, folder: join(folder, "file"), seed, n });
    const counted = kinds.get(kind)!;
    const where = `file ${n}: ${kind}`;
    if ("lost" in outcome) {
      if (outcome.lost === "late") result.hangs.push(where);
      else result.crashes.push(`${where}: ${outcome.message}`);
      continue;
    }
    counted.slowestMs = Math.max(counted.slowestMs, performance.now() - began);
    if (outcome.how === "unforeseen") result.unforeseen.push(`${where}: ${outcome.message}`);
    else counted[outcome.how]++;
  }
  thread.close();
  return result;
}
