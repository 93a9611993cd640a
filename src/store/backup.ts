/** Copies of a SQLite store: made while it is written to, checked, and put back. */
import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sqlite } from "../common/files/sqlite.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { requireStore } from "./sqlite.ts";
import { isPostgresUrl, shownUrl } from "./where.ts";

/** Share of the pages that are copied, in [0, 1]. */
export type Copied = (share: number) => void;

/**
 * Writes a copy of a store to a new file, which its owner alone may read. Others may write to the store meanwhile: the copy
 * is of one moment. It appears once it is whole and was checked.
 * @throws WhetstoneError `store.failed` for a store that cannot be copied; `option.range` for a file that is there.
 */
export async function backUp(from: string, to: string, copied: Copied = () => {}): Promise<void> {
  requireFile(from, "whetstone backup", "pg_dump");
  requireNew(to, "Name another file.");
  requireThere(from);
  await copy(from, to, copied);
}

/**
 * Puts a copy in the place of a store.
 * @param replace the store that is there goes; no process may have it open, which cannot be told here.
 * @throws WhetstoneError `store.failed` for a copy that is damaged or none; `option.range` for a store that is there.
 */
export async function restore(
  from: string,
  to: string,
  replace: boolean,
  copied: Copied = () => {},
): Promise<void> {
  requireFile(to, "whetstone restore", "pg_restore");
  if (!replace) requireNew(to, "Name another --store, or replace it with --replace once nothing uses it.");
  requireThere(from);
  if (existsSync(to)) requireNotForeign(to);
  await copy(from, to, copied);
}

/** A store may be replaced, also one that is damaged; another program's database may not. */
function requireNotForeign(file: string): void {
  try {
    requireStore(file);
  } catch (e) {
    if (e instanceof WhetstoneError) throw e;
  }
}

async function copy(from: string, to: string, copied: Copied): Promise<void> {
  const { DatabaseSync, backup } = sqlite();
  const part = join(dirname(resolve(to)), `.${basename(to)}.part-${process.pid}`);
  const source = new DatabaseSync(resolve(from), { readOnly: true });
  try {
    closeSync(openSync(part, "wx", 0o600));
    await backup(source, part, {
      rate: 1000,
      progress: ({ totalPages, remainingPages }) => copied(1 - remainingPages / Math.max(1, totalPages)),
    });
    requireSound(part, from);
    chmodSync(part, 0o600);
    // what SQLite laid beside the earlier file belongs to it, and would be read into the new one
    for (const beside of ["-wal", "-shm"]) rmSync(`${to}${beside}`, { force: true });
    renameSync(part, to);
    copied(1);
  } catch (e) {
    throw e instanceof WhetstoneError
      ? e
      : new WhetstoneError("store.failed", {
          where: to,
          got: messageOf(e),
          expected: "a copy of the store",
          fix: "Check that the folder can be written to and has room for the store; nothing was put there.",
          cause: e,
        });
  } finally {
    source.close();
    for (const beside of ["", "-wal", "-shm", "-journal"]) rmSync(`${part}${beside}`, { force: true });
  }
}

function requireSound(file: string, from: string): void {
  const { DatabaseSync } = sqlite();
  const database = new DatabaseSync(file);
  try {
    // one file, without a log beside it
    database.exec("PRAGMA journal_mode = DELETE");
    const found = database.prepare("PRAGMA integrity_check").all();
    const first = String(found[0]?.integrity_check ?? "");
    if (first === "ok") return;
    throw new WhetstoneError("store.failed", {
      where: from,
      got: `damage: ${first}`,
      expected: "a sound store",
      fix: "Use another copy; nothing was replaced.",
    });
  } finally {
    database.close();
  }
}

function requireFile(where: string, command: string, tool: string): void {
  if (!isPostgresUrl(where)) return;
  throw new WhetstoneError("option.range", {
    where: command,
    got: shownUrl(where),
    expected: "a SQLite file",
    fix: `PostgreSQL has tools of its own: ${tool}.`,
  });
}

/** A store, of Whetstone. */
function requireThere(file: string): void {
  if (existsSync(file)) requireStore(file);
  else
    throw new WhetstoneError("name.unknown", {
      where: "store",
      got: `${file}, which is not there`,
      expected: "an existing store",
      fix: "Name the file; a store's is given with --store or WHETSTONE_STORE.",
    });
}

function requireNew(file: string, fix: string): void {
  if (!existsSync(file)) return;
  throw new WhetstoneError("option.range", {
    where: file,
    got: "a file that is there",
    expected: "a new file",
    fix,
  });
}
