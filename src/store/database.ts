/** One way to either database: what the rest of the room asks of it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type Dialect, Kysely, Migrator, SqliteDialect, sql } from "kysely";
import { makeFolder } from "../common/files/files.ts";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import { postgresDatabase } from "./postgres.ts";
import { migrations, type Tables } from "./schema.ts";
import { kyselyDatabase, openDatabase, storeFailure } from "./sqlite.ts";
import { sqliteThread } from "./sqliteThread.ts";
import { isPostgresUrl } from "./where.ts";
import type { Rows, RowsWritten } from "./writeRows.ts";

export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** The file, or the connection URL without its password. */
  readonly where: string;
  readonly db: Kysely<Tables>;
  /** Where it works in a thread of its own: rows in one transaction, by one message to it. */
  readonly write?: (secret: Buffer, rows: Rows) => Promise<RowsWritten>;
  /** Writes over what was deleted: free pages and the log. Takes as long as copying the database. */
  scrub(): Promise<void>;
  /** The bytes of each of its files, where this process may read them. */
  contents(): AsyncIterable<AsyncIterable<Uint8Array>>;
  /** Where deleted rows may go on, out of our reach. */
  readonly unseen: readonly string[];
  /** Anything thrown while it was used, as one clear error. */
  failure(cause: unknown): WhetstoneError;
  close(): Promise<void>;
}

/**
 * In which thread SQLite works: its own, where somebody is served meanwhile. A statement that waits for another's transaction
 * holds its whole thread up, for ever where that transaction's next statement is to come from the same thread.
 */
export type SqliteIn = "own thread" | "this thread";

/**
 * Opens or creates it, with all its tables.
 * @param where a file, or a URL that begins with postgres://.
 * @throws WhetstoneError `store.failed`, `store.full`.
 */
export async function connect(where: string, sqlite: SqliteIn): Promise<Database> {
  const database = isPostgresUrl(where) ? await postgresDatabase(where) : await openSqlite(where, sqlite);
  await migrated(database);
  return database;
}

async function openSqlite(file: string, thread: SqliteIn): Promise<Database> {
  await makeFolder(dirname(resolve(file))).catch((e: unknown) => {
    throw storeFailure(file, isWhetstoneError(e) ? e.cause : e);
  });
  if (thread === "this thread") return sqliteDatabase(openDatabase(file), file);
  const { dialect, write, close } = await sqliteThread(file).catch((e: unknown) => {
    throw storeFailure(file, e);
  });
  return { ...onDialect(dialect, file, close), write };
}

/** On a file that is open already, in this thread. */
export function sqliteDatabase(database: DatabaseSync, file: string): Database {
  return onDialect(new SqliteDialect({ database: kyselyDatabase(database) }), file, async () => {});
}

function onDialect(dialect: Dialect, file: string, close: () => Promise<void>): Database {
  const db = new Kysely<Tables>({ dialect });
  return {
    kind: "sqlite",
    where: file,
    db,
    async scrub() {
      await sql`vacuum`.execute(db);
      await sql`pragma wal_checkpoint(truncate)`.execute(db);
    },
    async *contents() {
      for (const part of [file, `${file}-wal`]) if (existsSync(part)) yield bytesOfFile(part);
    },
    unseen: ["backups and snapshots of the file", "blocks that the file system freed"],
    failure: (cause) => storeFailure(file, cause),
    async close() {
      await db.destroy();
      await close();
    },
  };
}

/**
 * Read by another process: closing the file in this one would drop the locks that SQLite holds on it, and another
 * process could then take the log away from under us (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
async function* bytesOfFile(file: string): AsyncGenerator<Uint8Array> {
  const copy = "require('node:fs').createReadStream(process.argv[1]).pipe(process.stdout)";
  const child = spawn(process.execPath, ["-e", copy, resolve(file)], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "close");
  for await (const bytes of child.stdout) yield bytes;
  const [code] = await ended;
  if (code !== 0) throw new Error(`${file} could not be read`);
}

/** Brings the tables to this version; closes the database where that fails. */
export async function migrated({ kind, where, db, failure, close }: Database): Promise<void> {
  const known = migrations(kind === "sqlite" ? "blob" : "bytea");
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  try {
    // two processes that create one store at once: the second finds it made on its next try
    for (let tries = 1; ; tries++) {
      const { error } = await migrator.migrateToLatest();
      if (error === undefined) return;
      if (/previously executed migration/.test(String(error))) {
        throw new WhetstoneError("store.failed", {
          where: `store ${where}`,
          got: "a store of a newer Whetstone",
          expected: "one of this version or older",
          mend: "Update Whetstone, or choose another --store.",
          cause: error,
        });
      }
      if (tries === 4) throw error;
      await new Promise((next) => setTimeout(next, 50 * tries));
    }
  } catch (e) {
    await close();
    throw failure(e);
  }
}
