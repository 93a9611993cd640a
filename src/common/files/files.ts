/** Writing so that a crash or a full disk never leaves half a file where a whole one stood. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ErrorCode, messageOf, WhetstoneError } from "../../core/errors.ts";

function codeOf(e: unknown): string {
  return typeof e === "object" && e !== null && "code" in e ? String(e.code) : "";
}

/**
 * What a failed write means to the person who started it.
 * @param reason the system's code, where that of `e` misleads. @param flag that named the folder.
 */
export function writeError(path: string, e: unknown, reason = codeOf(e), flag = "--out"): WhetstoneError {
  const [code, mend]: readonly [ErrorCode, string] =
    reason === "ENOSPC" || reason === "EDQUOT"
      ? ["disk.write", "Free some space and start again with --resume; what was saved before is intact."]
      : reason === "EACCES" ||
          reason === "EPERM" ||
          reason === "EROFS" ||
          reason === "ENOTDIR" ||
          reason === "EEXIST"
        ? ["folder.unwritable", `Choose another folder with ${flag}, or change its permissions.`]
        : ["disk.write", "Check the disk and start again with --resume; what was saved before is intact."];
  return new WhetstoneError(code, {
    where: path,
    got: messageOf(e).split(",")[0] ?? reason,
    expected: "to be able to write there",
    mend,
    cause: e,
  });
}

/** Makes a folder and those above it. @param flag that named it. @throws WhetstoneError `folder.unwritable` or `disk.write`. */
export async function makeFolder(path: string, flag?: string): Promise<void> {
  try {
    await makeFolders(path);
  } catch (e) {
    // the folder above is there, and yet "no such folder": nothing can be made in it
    throw writeError(path, e, codeOf(e) === "ENOENT" ? "EPERM" : codeOf(e), flag);
  }
}

/** One level at a time: Node's recursive mkdir never ends where a file system answers "no such folder" to a new one (/proc). */
async function makeFolders(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (e) {
    if (codeOf(e) !== "ENOENT" || dirname(path) === path) throw e;
    await makeFolders(dirname(path));
    await makeOne(path);
  }
}

/** One that is there already, perhaps since a moment ago, will do. */
async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (e) {
    if (codeOf(e) !== "EEXIST" || !(await stat(path)).isDirectory()) throw e;
  }
}

async function flushFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** All of it, or a part at a time. */
export type FileData = Uint8Array | string | AsyncIterable<string>;

/** Writes a file and flushes it to the disk. */
export async function writeFlushed(path: string, data: FileData): Promise<void> {
  try {
    const handle = await open(path, "w");
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (e) {
    throw e instanceof WhetstoneError ? e : writeError(path, e);
  }
}

/** Settings of {@link replaceFile}. */
export interface ReplaceFile {
  /** Done once all of it is on the disk, and before it takes its name. */
  readonly announce?: () => Promise<void>;
  /**
   * Several may write the file at once, and the last one counts. What a crash leaves aside then stays there, under a name of
   * its own; else the next write takes its place.
   */
  readonly shared?: boolean;
}

/** Replaces a file whole: written aside, flushed, renamed. */
export async function replaceFile(
  path: string,
  data: FileData,
  { announce = async () => {}, shared = false }: ReplaceFile = {},
): Promise<void> {
  const aside = shared ? `${path}.${randomUUID()}.partial` : `${path}.partial`;
  try {
    await writeFlushed(aside, data);
    await announce();
    await rename(aside, path);
    await flushFolder(dirname(path));
  } catch (e) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw e instanceof WhetstoneError ? e : writeError(path, e);
  }
}

/** Removes a folder and all that is in it; one that is not there is no failure. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (e) {
    throw writeError(path, e);
  }
}

/** Flushes the names of all files within, not only those at the top. */
async function flushTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushTree(join(path, entry.name));
  }
  await flushFolder(path);
}

/** Moves a folder out of the way, if there is one. @returns whether there was. */
async function moveAway(path: string, to: string): Promise<boolean> {
  try {
    await rename(path, to);
    return true;
  } catch (e) {
    if (codeOf(e) === "ENOENT") return false;
    throw e;
  }
}

/** Makes a folder whole or not at all: `fill` writes into one aside, which then takes the name. */
export async function replaceFolder(path: string, fill: (aside: string) => Promise<void>): Promise<void> {
  const aside = `${path}.partial`;
  const old = `${path}.old`;
  try {
    await removeFolder(aside);
    await makeFolders(aside);
    await fill(aside);
    await flushTree(aside);
    await removeFolder(old);
    const moved = await moveAway(path, old);
    try {
      await rename(aside, path);
    } catch (e) {
      if (moved) await rename(old, path);
      throw e;
    }
    await flushFolder(dirname(path));
    await removeFolder(old);
  } catch (e) {
    await rm(aside, { recursive: true, force: true }).catch(() => undefined);
    throw e instanceof WhetstoneError ? e : writeError(path, e);
  }
}

/**
 * Mends what a crash within {@link replaceFolder} left: the folder of before in its place again, where there is none, and
 * nothing aside. For whoever keeps others from writing it meanwhile.
 */
export async function afterReplacing(path: string): Promise<void> {
  try {
    const whole = await stat(path).then(
      () => true,
      () => false,
    );
    if (!whole) await moveAway(`${path}.old`, path);
    await removeFolder(`${path}.old`);
    await removeFolder(`${path}.partial`);
  } catch (e) {
    throw e instanceof WhetstoneError ? e : writeError(path, e);
  }
}
