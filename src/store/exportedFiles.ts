/** Taking rows out of files of training data that were written before. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { replaceFile } from "../common/files/files.ts";
import { WhetstoneError } from "../core/errors.ts";

/**
 * Writes a file of one row a line again without some of them: aside, flushed, renamed.
 * A file that is gone, or was written again before a crash, is left as it is.
 * @param drop places of rows, counted from 0 over the lines that are not empty.
 * @param rows how many there were.
 * @throws WhetstoneError `store.failed` where the file is not the one that was exported.
 */
export async function dropRows(file: string, drop: ReadonlySet<number>, rows: number): Promise<void> {
  let lines = 0;
  try {
    for await (const _ of linesOf(file)) lines++;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === "ENOENT") return;
    throw e;
  }
  if (lines === rows - drop.size) return;
  if (lines !== rows) {
    throw new WhetstoneError("store.failed", {
      where: file,
      got: `${lines} rows`,
      expected: `the ${rows} rows that were exported`,
      mend: "Somebody changed the file, so that nobody knows whose rows are whose. Delete it, and erase again.",
    });
  }
  async function* remaining(): AsyncGenerator<string> {
    let row = 0;
    for await (const line of linesOf(file)) if (!drop.has(row++)) yield `${line}\n`;
  }
  await replaceFile(file, remaining());
}

async function* linesOf(file: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity })) {
    if (line.trim() !== "") yield line;
  }
}
