/** Test files that share a process. */
import { after, suite, test } from "node:test";

type Work = () => Promise<unknown> | unknown;

let ending: Work[] | undefined;

/**
 * Runs each file to its end before the next is loaded, so that working folder and hooks do not leak between files.
 * @param files their paths for reports, with their URLs.
 */
export async function inTurn(files: Readonly<Record<string, string>>): Promise<void> {
  ending = [];
  for (const [file, url] of Object.entries(files)) await suite(file, () => import(url).catch(unread));
  for (const work of ending.reverse()) await work();
}

/** A file that cannot be loaded is reported as a failed test, since suites are not counted. */
function unread(e: unknown): void {
  test("the file is read", () => {
    throw e;
  });
}

/** Cleans up what the files of a process share: an `after` in a shared module would belong to the first file only. */
export function atEnd(work: Work): void {
  if (ending) ending.push(work);
  else after(() => work());
}
