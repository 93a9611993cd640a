/** Removes rows from exported training data files. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { isMissing, replaceFile } from "../common/files/files.ts";
import { WhetstoneError } from "../core/errors.ts";

/**
 * Rewrites a file of one row per line without some rows, atomically: written aside, flushed, renamed.
 * A file that is missing, or was already rewritten before a crash, stays as it is.
 * @param drop indices of rows, counted from 0 over the non-empty lines.
 * @param rows number of rows that were exported.
 * @throws WhetstoneError `store.failed` if the file is not the exported one.
 */
export async function dropRows(file: string, drop: ReadonlySet<number>, rows: number): Promise<void> {
  let lines = 0;
  try {
    for await (const _ of linesOf(file)) lines++;
  } catch (e) {
    if (isMissing(e)) return;
    throw e;
  }
  if (lines === rows - drop.size) return;
  if (lines !== rows) {
    throw new WhetstoneError("store.failed", {
      where: file,
      got: `${lines} rows`,
      expected: `the ${rows} rows that were exported`,
      fix: "Delete the file and erase again: it was changed, so its rows cannot be assigned to users.",
    });
  }
  // an export that meets the erasure takes its file back, perhaps between the two readings
  let isGone = false;
  async function* remaining(): AsyncGenerator<string> {
    let row = 0;
    try {
      for await (const line of linesOf(file)) if (!drop.has(row++)) yield `${line}\n`;
    } catch (e) {
      isGone = isMissing(e);
      throw e;
    }
  }
  try {
    await replaceFile(file, remaining());
  } catch (e) {
    if (!isGone) throw e;
  }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    if (line.trim() !== "") yield line;
  }
}
