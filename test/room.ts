/** Files of tests that share a process, and what they share. */
import { after, suite, test } from "node:test";

type Work = () => Promise<unknown> | unknown;

let ending: Work[] | undefined;

/**
 * Runs each file to its end before it reads the next: the working folder and the hooks of one are nothing to another.
 * @param files their paths as they are reported, with their URLs.
 */
export async function inTurn(files: Readonly<Record<string, string>>): Promise<void> {
  ending = [];
  for (const [file, url] of Object.entries(files)) await suite(file, () => import(url).catch(unread));
  for (const work of ending.reverse()) await work();
}

/** A file that cannot be read is a test that fails: suites are not counted. */
function unread(e: unknown): void {
  test("the file is read", () => {
    throw e;
  });
}

/** Ends what the files of a process share: `after` in a module that several of them read belongs to the first one alone. */
export function atEnd(work: Work): void {
  if (ending) ending.push(work);
  else after(() => work());
}
