/** Copies of a store: made while it is written to, checked, and put back. */
import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sqlite } from "../common/files/sqlite.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { copyFromPostgres, copyToPostgres } from "./postgresBackup.ts";
import { requireStore, requireUndamaged } from "./sqlite.ts";
import { requireNotNewer, stepsIn } from "./storeVersion.ts";
import { isPostgresUrl, shownUrl } from "./where.ts";

/** Share of the pages that are copied, in [0, 1]. */
export type Copied = (share: number) => void;

/**
 * Writes a copy of a store to a new file, which its owner alone may read. Others may write to the store meanwhile: the copy
 * is of one moment. It appears once it is whole and was checked. The copy of a PostgreSQL store is a SQLite store.
 * @throws WhetstoneError `store.failed` for a store that cannot be copied; `option.range` for a file that is there.
 */
export async function backUp(from: string, to: string, copied: Copied = () => {}): Promise<void> {
  if (isPostgresUrl(to)) throw noFile(to);
  requireNew(to, "Name another file.");
  if (isPostgresUrl(from)) return placed(from, to, copied, (part) => copyFromPostgres(from, part, copied));
  requireThere(from);
  await placed(from, to, copied, (part) => copyPages(from, part, copied));
}

/**
 * Puts a copy in the place of a store, whichever database the copied store was in.
 * @param replace the store that is there goes; no process may have it open, which cannot be told here.
 * @throws WhetstoneError `store.failed` for a copy that is damaged, none, or of a newer version; `option.range` for a store
 * that is there.
 */
export async function restore(
  from: string,
  to: string,
  replace: boolean,
  copied: Copied = () => {},
): Promise<void> {
  if (isPostgresUrl(from)) throw noFile(from);
  if (isPostgresUrl(to)) {
    requireThere(from);
    return copyToPostgres(from, to, replace, copied);
  }
  if (!replace) requireNew(to, "Name another --store, or replace it with --replace once nothing uses it.");
  requireThere(from);
  if (existsSync(to)) requireNotForeign(to);
  await placed(from, to, copied, async (part) => {
    await copyPages(from, part, copied);
    requireReadable(part, from);
  });
}

/** A store may be replaced, also one that is damaged; another program's database may not. */
function requireNotForeign(file: string): void {
  try {
    requireStore(file);
  } catch (e) {
    if (e instanceof WhetstoneError) throw e;
  }
}

/** @param make fills a new file, which then takes its place. */
async function placed(
  from: string,
  to: string,
  copied: Copied,
  make: (part: string) => Promise<void>,
): Promise<void> {
  const part = join(dirname(resolve(to)), `.${basename(to)}.part-${process.pid}`);
  try {
    closeSync(openSync(part, "wx", 0o600));
    await make(part);
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
    for (const beside of ["", "-wal", "-shm", "-journal"]) rmSync(`${part}${beside}`, { force: true });
  }
}

async function copyPages(from: string, part: string, copied: Copied): Promise<void> {
  const { DatabaseSync, backup } = sqlite();
  const source = new DatabaseSync(resolve(from), { readOnly: true });
  try {
    await backup(source, part, {
      rate: 1000,
      progress: ({ totalPages, remainingPages }) => copied(1 - remainingPages / Math.max(1, totalPages)),
    });
  } finally {
    source.close();
  }
}

function requireSound(file: string, from: string): void {
  const database = new (sqlite().DatabaseSync)(file);
  try {
    // one file, without a log beside it
    database.exec("PRAGMA journal_mode = DELETE");
    requireUndamaged(database, from);
  } finally {
    database.close();
  }
}

/** This version can open it. */
function requireReadable(file: string, from: string): void {
  const database = new (sqlite().DatabaseSync)(file, { readOnly: true });
  try {
    requireNotNewer(from, stepsIn(database));
  } finally {
    database.close();
  }
}

const noFile = (where: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "the copy",
    got: shownUrl(where),
    expected: "a file",
    fix: "Name a file; the store is given with --store or WHETSTONE_STORE.",
  });

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
