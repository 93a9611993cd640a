/** The smallest bridge from Node's own SQLite to Kysely, and its failures in words. */
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { SqliteDatabase } from "kysely";
import { sqlite } from "../common/files/sqlite.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";

/** Tables of a store, the name of the first step by which they were made among its rows. */
const [steps, firstStep] = ["kysely_migration", "001-runs"];

/**
 * Makes a file that its owner alone may read, as are then the log and the index that SQLite lays beside it; one that is there
 * has to be a store. Nothing is written to what somebody else made.
 * @param by what tells a store from another database. The names of its tables are enough where requireOwnSchema follows, and no row may
 * be read before.
 */
export function requireStore(file: string, by: "names" | "steps" = "steps"): void {
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const there = statSync(file);
  if (there.isDirectory()) {
    throw new WhetstoneError("store.failed", {
      where: `store ${file}`,
      got: "a folder",
      expected: "an existing or new file",
      fix: `Name a file in the folder, such as ${join(file, "whetstone.sqlite")}.`,
    });
  }
  if (!there.isFile() || there.size === 0) return;
  const database = new (sqlite().DatabaseSync)(asItIs(file), { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const names = tables.map(({ name }) => String(name));
    if (by === "names" && names.includes(steps)) return;
    const made = names.includes(steps)
      ? database.prepare(`select min(name) as name from ${steps}`).get()
      : undefined;
    // a store that is being made has no steps yet, or no tables at all
    if (names.length === 0 || (made && (made.name === firstStep || made.name === null))) return;
    throw new WhetstoneError("store.failed", {
      where: `store ${file}`,
      got: `another program's SQLite database, with the tables ${names.slice(0, 5).join(", ")}`,
      expected: "a Whetstone store or a new file",
      fix: "Choose another --store.",
    });
  } finally {
    database.close();
  }
}

/** How SQLite opens a file: without a log all of it lies in the file, and is read without as much as an index beside it. */
export const asItIs = (file: string): string =>
  existsSync(`${file}-wal`) ? resolve(file) : `${pathToFileURL(file).href}?immutable=1`;

/** Reads all of it. @throws WhetstoneError `store.failed` with the first damage. */
export function requireUndamaged(database: DatabaseSync, file: string): void {
  const first = String(database.prepare("PRAGMA integrity_check").get()?.integrity_check ?? "");
  if (first === "ok") return;
  throw new WhetstoneError("store.failed", {
    where: file,
    got: `damage: ${first}`,
    expected: "a sound store",
    fix: "Use another copy; nothing was replaced.",
  });
}

/** Opens or creates the file: write-ahead log, every commit flushed to the disk, others waited for up to 10 s. */
export function openDatabase(file: string): DatabaseSync {
  try {
    // one in memory has no file; any other name is that of a file, also where SQLite would take it for a URL
    const inMemory = file === ":memory:";
    if (!inMemory) requireStore(file);
    const database = new (sqlite().DatabaseSync)(inMemory ? file : resolve(file));
    try {
      database.exec("PRAGMA busy_timeout = 10000");
      database.exec("PRAGMA journal_mode = WAL");
      database.exec("PRAGMA synchronous = FULL");
      database.exec("PRAGMA foreign_keys = ON");
      database.exec("PRAGMA secure_delete = ON");
    } catch (e) {
      database.close();
      throw e;
    }
    return database;
  } catch (e) {
    throw storeFailure(file, e);
  }
}

/** The interface that Kysely expects of a SQLite driver. */
export function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  /** Statements that write, by their text: run to their end at once, so that nobody else is in the middle of one. */
  const writers = new Map<string, StatementSync>();
  function compiled(sql: string, selects: boolean): StatementSync {
    const known = writers.get(sql);
    if (known) return known;
    const statement = database.prepare(sql);
    if (!selects && writers.size < 100) writers.set(sql, statement);
    return statement;
  }
  return {
    close: () => database.close(),
    prepare: (sql) => {
      if (sql === "rollback") return rollbackStatement(database);
      // all our transactions write: taken at once, the lock is waited for; taken later, it can be refused
      if (sql === "begin") return kyselyStatement(database.prepare("begin immediate"), false);
      const selects = /^\s*(select|with|pragma|explain|values)\b/i.test(sql);
      return kyselyStatement(compiled(sql, selects), selects || /\breturning\b/i.test(sql));
    },
  };
}

function kyselyStatement(statement: StatementSync, reader: boolean): ReturnType<SqliteDatabase["prepare"]> {
  const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
  return {
    reader,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  };
}

function rollbackStatement(database: DatabaseSync): ReturnType<SqliteDatabase["prepare"]> {
  return {
    reader: false,
    all: () => [],
    run: () => {
      rollback(database);
      return { changes: 0, lastInsertRowid: 0 };
    },
    iterate: () => [][Symbol.iterator](),
  };
}

/** SQLite rolls back by itself when the disk is full; a second rollback must not hide that error. */
export function rollback(database: DatabaseSync): void {
  try {
    database.exec("rollback");
  } catch (e) {
    if (!/no transaction is active/.test(messageOf(e))) throw e;
  }
}

/** SQLite's primary result codes, https://sqlite.org/rescode.html. */
const reasons: Readonly<Record<number, readonly [got: string, expected: string, fix: string]>> = {
  5: [
    "a store locked by another process",
    "the lock to be released within 10 s",
    "End the other process, or give this run its own --store.",
  ],
  6: [
    "a locked table",
    "the lock to be released within 10 s",
    "End the other process, or give this run its own --store.",
  ],
  8: [
    "a store that is read-only",
    "a writable file",
    "Make the file and its folder writable, or choose another --store.",
  ],
  10: [
    "a disk that failed to read or write",
    "a working disk",
    "Check the disk and its free space, then resume the run.",
  ],
  11: [
    "a damaged file",
    "a whole store",
    "Move the file away and start a new store; run folders do not need it.",
  ],
  13: [
    "a full disk",
    "room to write",
    "Free some space; then resume the run, or send the refused data again.",
  ],
  14: [
    "a file that cannot be opened",
    "a writable folder",
    "Make the folder writable, or choose another --store.",
  ],
  26: [
    "a file that is not a SQLite database",
    "a Whetstone store",
    "Choose another --store, or move that file away.",
  ],
};

const systemReasons: Readonly<Record<string, number>> = { ENOSPC: 13, EDQUOT: 13, EIO: 10, EROFS: 8 };

/** Anything thrown while the store was used, as one clear error. */
export function storeFailure(file: string, cause: unknown): WhetstoneError {
  if (cause instanceof WhetstoneError) return cause;
  const reason = reasonOf(cause);
  const known = reasons[reason];
  const [got, expected, fix] = known ?? [
    `the failure "${messageOf(cause)}"`,
    "SQLite to work",
    "Run `whetstone doctor`, and try another --store.",
  ];
  const code = reason === full ? "store.full" : "store.failed";
  return new WhetstoneError(code, { where: `store ${file}`, got, expected, fix, cause });
}

const full = 13;
/** The shared-memory file beside the log could not grow: that, too, is a full disk. */
const noRoomForIndex = 10 | (19 << 8);

/** SQLite's code of a failure without its details, or one that stands for the system's; −1 for any other error. */
export function reasonOf(cause: unknown): number {
  const { errcode, code } = (cause ?? {}) as { errcode?: number; code?: string };
  if (errcode === noRoomForIndex) return full;
  if (errcode !== undefined) return errcode & 0xff;
  return code?.startsWith("E") ? (systemReasons[code] ?? 14) : -1;
}
