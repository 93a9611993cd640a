/** Copies of a store: made while it is written to, checked, and put back. */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sqlite } from "../common/files/sqlite.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { requireOwnSchema, requireReadable } from "./ownSchema.ts";
import { copyFromPostgres, copyToPostgres } from "./postgresBackup.ts";
import { reasonOf, requireStore, requireUndamaged, storeFailure } from "./sqlite.ts";
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
 * @param replace the store that is there goes. A SQLite store that any process has open is refused; whether one uses a PostgreSQL
 * store is not told here.
 * @throws WhetstoneError `store.failed` for a copy that is damaged, none, or of a newer version, and for a store that is in use;
 * `option.range` for a store that is there.
 */
export async function restore(
  from: string,
  to: string,
  replace: boolean,
  copied: Copied = () => {},
): Promise<void> {
  if (isPostgresUrl(from)) throw noFile(from);
  if (isPostgresUrl(to)) {
    await requireCopy(from);
    return copyToPostgres(from, to, replace, copied);
  }
  if (!replace) requireNew(to, "Name another --store, or replace it with --replace once nothing uses it.");
  await requireCopy(from);
  // a link leads to what is replaced
  const there = existsSync(to) ? realpathSync(to) : undefined;
  if (there !== undefined) {
    requireNotForeign(there);
    requireUnused(there);
  }
  await placed(from, there ?? to, copied, async (part) => {
    await copyPages(from, part, copied);
    await requireOwn(part, from);
  });
}

/** SQLite's code for a file that is no database. */
const noDatabase = 26;

/** A store may be replaced, also one that is damaged; another file may not. */
function requireNotForeign(file: string): void {
  const isFile = statSync(file).isFile();
  try {
    if (isFile) {
      requireStore(file);
      return;
    }
  } catch (e) {
    if (e instanceof WhetstoneError) throw e;
    if (reasonOf(e) !== noDatabase) return;
  }
  throw new WhetstoneError("store.failed", {
    where: `store ${file}`,
    got: isFile ? "a file that is no store" : "something that is no file",
    expected: "a store to replace, or a new file",
    fix: "Name another --store, or move the file away.",
  });
}

/** SQLite's code for a database that another connection holds. */
const busy = 5;

/** Who has a store open would go on writing into a file that no name leads to any more, and lose what it acknowledged. */
function requireUnused(file: string): void {
  const database = new (sqlite().DatabaseSync)(resolve(file));
  try {
    // takes the database for itself alone; a new connection sets the log up again
    database.exec("PRAGMA journal_mode = DELETE");
  } catch (e) {
    if (reasonOf(e) !== busy) return; // a damaged store may be replaced
    throw new WhetstoneError("store.failed", {
      where: `store ${file}`,
      got: "a store that is in use",
      expected: "a store that no process has open",
      fix: "Stop the gateway, the dashboard and the runs that use it, and restore again. Nothing was replaced.",
      cause: e,
    });
  } finally {
    database.close();
  }
}

/** @param make fills a new file, which then takes its place. */
async function placed(
  from: string,
  to: string,
  copied: Copied,
  make: (part: string) => Promise<void>,
): Promise<void> {
  const folder = dirname(resolve(to));
  const part = join(folder, `.${basename(to)}.part-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (e) {
    throw notWritten(to, e);
  }
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
    throw notWritten(to, e);
  } finally {
    for (const beside of ["", "-wal", "-shm", "-journal"]) rmSync(`${part}${beside}`, { force: true });
  }
}

const notWritten = (to: string, e: unknown): WhetstoneError =>
  e instanceof WhetstoneError
    ? e
    : new WhetstoneError("store.failed", {
        where: to,
        got: messageOf(e),
        expected: "a copy of the store",
        fix: "Check that the folder can be written to and has room for the store; nothing was put there.",
        cause: e,
      });

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

/** This version can open it, and nothing in it runs by itself. */
async function requireOwn(file: string, from: string): Promise<void> {
  const database = new (sqlite().DatabaseSync)(file, { readOnly: true });
  try {
    await requireOwnSchema(database, from);
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

/** A store, of which no row was read. */
async function requireCopy(from: string): Promise<void> {
  if (existsSync(from) && statSync(from).isFile()) await requireReadable(from);
  requireThere(from, "names");
}

/** A store, of Whetstone. */
function requireThere(file: string, by: "names" | "steps" = "steps"): void {
  if (!existsSync(file))
    throw new WhetstoneError("name.unknown", {
      where: "store",
      got: `${file}, which is not there`,
      expected: "an existing store",
      fix: "Name the file; a store's is given with --store or WHETSTONE_STORE.",
    });
  try {
    requireStore(file, by);
  } catch (e) {
    throw storeFailure(file, e);
  }
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
