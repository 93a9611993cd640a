/** Opens or creates a database, with its tables. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type Dialect, Kysely, Migrator, SqliteDialect, sql } from "kysely";
import { makeFolder } from "../common/files/files.ts";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import type { Database, SqliteIn } from "./database.ts";
import { migrations } from "./migrations.ts";
import { postgresDatabase } from "./postgres.ts";
import type { Tables } from "./schema.ts";
import { kyselyDatabase, openDatabase, storeFailure } from "./sqlite.ts";
import { sqliteThread } from "./sqliteThread.ts";
import { isPostgresUrl } from "./where.ts";

/**
 * Opens or creates a database, with all tables.
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

/** Wraps a SQLite file that is already open, in this thread. */
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
      return [];
    },
    async *contents() {
      for (const part of [file, `${file}-wal`]) if (existsSync(part)) yield bytesOfFile(part);
    },
    unseen: ["backups and snapshots of the file", "disk blocks that the file system has freed"],
    failure: (cause) => storeFailure(file, cause),
    async close() {
      await db.destroy();
      await close();
    },
  };
}

/**
 * Reads the file in another process: closing it in this process would drop SQLite's locks on it, and another process could
 * then remove the log while it is in use (https://sqlite.org/howtocorrupt.html, section 2.2).
 */
async function* bytesOfFile(file: string): AsyncGenerator<Uint8Array> {
  const copy = "require('node:fs').createReadStream(process.argv[1]).pipe(process.stdout)";
  const child = spawn(process.execPath, ["-e", copy, resolve(file)], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "close");
  for await (const bytes of child.stdout) yield bytes;
  const [code] = await ended;
  if (code !== 0) throw new Error(`${file} could not be read`);
}

/** Migrates the tables to this version; closes the database if that fails. */
export async function migrated({ kind, where, db, failure, close }: Database): Promise<void> {
  const known = migrations(kind === "sqlite" ? "blob" : "bytea");
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  try {
    // if two processes create one store at once, the second succeeds on its next try
    for (let tries = 1; ; tries++) {
      const { error } = await migrator.migrateToLatest();
      if (error === undefined) return;
      if (/previously executed migration/.test(String(error))) {
        throw new WhetstoneError("store.failed", {
          where: `store ${where}`,
          got: "a store of a newer version of Whetstone",
          expected: "a store of this version or an older one",
          fix: "Update Whetstone, or choose another --store.",
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
