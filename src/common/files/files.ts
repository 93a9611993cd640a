/** Atomic writes: a crash or a full disk never leaves a partial file in place of a complete one. */
import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type ErrorCode, messageOf, WhetstoneError } from "../../core/errors.ts";

function codeOf(e: unknown): string {
  return typeof e === "object" && e !== null && "code" in e ? String(e.code) : "";
}

/** Whether the error of a file system call says that the path leads to nothing. */
export const isMissing = (e: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(e));

/**
 * The error for a failed write, with advice for the user.
 * @param reason system error code; overrides a misleading code of `e`. @param flag the option that named the folder.
 */
export function writeError(path: string, e: unknown, reason = codeOf(e), flag = "--out"): WhetstoneError {
  const [code, fix]: readonly [ErrorCode, string] =
    reason === "ENOSPC" || reason === "EDQUOT"
      ? [
          "disk.write",
          "Free some space and start again, a run with --resume; what was saved before is intact.",
        ]
      : reason === "EACCES" ||
          reason === "EPERM" ||
          reason === "EROFS" ||
          reason === "ENOTDIR" ||
          reason === "EEXIST"
        ? ["folder.unwritable", `Choose another folder with ${flag}, or change its permissions.`]
        : [
            "disk.write",
            "Check the disk and start again, a run with --resume; what was saved before is intact.",
          ];
  return new WhetstoneError(code, {
    where: path,
    got: messageOf(e).split(",")[0] ?? reason,
    expected: "a writable path",
    fix,
    cause: e,
  });
}

/**
 * Refuses, before the work begins, to write over a file or into what is no folder. @param flag the option that named it.
 * @throws WhetstoneError `run.exists`, `option.range`.
 */
export function requireNewFile(file: string, flag = "--out"): void {
  const folder = dirname(resolve(file));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new WhetstoneError("option.range", {
      where: flag,
      got: `${resolve(file)}, and ${folder} is no folder`,
      expected: "a file in an existing folder",
      fix: `Make ${folder}, or choose another.`,
    });
  }
  if (!existsSync(resolve(file))) return;
  throw new WhetstoneError("run.exists", {
    where: flag,
    got: `${resolve(file)}, an existing file`,
    expected: "a new file",
    fix: "Choose another name, or remove it.",
  });
}

/** Makes a folder and its parents. @param flag the option that named it. @throws WhetstoneError `folder.unwritable` or `disk.write`. */
export async function makeFolder(path: string, flag?: string): Promise<void> {
  try {
    await makeFolders(path);
  } catch (e) {
    // ENOENT although the parent exists: the file system does not allow new folders in it
    throw writeError(path, e, codeOf(e) === "ENOENT" ? "EPERM" : codeOf(e), flag);
  }
}

/** Makes one level at a time, since Node's recursive mkdir never returns on a file system that answers ENOENT to a new folder (/proc). */
async function makeFolders(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (e) {
    if (codeOf(e) !== "ENOENT" || dirname(path) === path) throw e;
    await makeFolders(dirname(path));
    await makeOne(path);
  }
}

/** Makes one folder; one that exists already, even if created concurrently, is fine. */
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

/** Complete data, or a stream of chunks. */
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
  /** Called after all data is on the disk and before the file gets its final name. */
  readonly announce?: () => Promise<void>;
  /**
   * Several processes may write the file at once; the last write wins. Each temporary file then has a unique name and remains
   * after a crash; otherwise the next write overwrites it.
   */
  readonly shared?: boolean;
}

/** Replaces a file atomically: writes a temporary file, flushes it, renames it. */
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

/** Removes a folder and its contents; a missing folder is not an error. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (e) {
    throw writeError(path, e);
  }
}

/** Flushes the directory entries of the whole tree, not only those at the top. */
async function flushTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushTree(join(path, entry.name));
  }
  await flushFolder(path);
}

/** Moves a folder away, if it exists. @returns whether it existed. */
async function moveAway(path: string, to: string): Promise<boolean> {
  try {
    await rename(path, to);
    return true;
  } catch (e) {
    if (codeOf(e) === "ENOENT") return false;
    throw e;
  }
}

/** Replaces a folder atomically: `fill` writes into a temporary folder, which is then renamed. */
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
 * Recovers from a crash within {@link replaceFolder}: restores the old folder if the new one is missing, and deletes the
 * temporary folders. The caller must hold a lock against concurrent writers.
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
