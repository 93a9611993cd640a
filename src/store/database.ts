/** One way to either database: what the rest of the room asks of it. */
import { dirname, resolve } from "node:path";
import { Kysely, Migrator, sql } from "kysely";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import { makeFolder } from "../core/files.ts";
import { migrations, type Tables } from "./schema.ts";
import { storeFailure } from "./sqlite.ts";
import { sqliteThread } from "./sqliteThread.ts";

export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** The file, or the connection URL without its password. */
  readonly where: string;
  readonly db: Kysely<Tables>;
  /** Its files, where this process can read them. */
  readonly files: readonly string[];
  /** Writes over what was deleted: free pages and the log. Takes as long as copying the database. */
  scrub(): Promise<void>;
  /** Anything thrown while it was used, as one clear error. */
  failure(cause: unknown): WhetstoneError;
  close(): Promise<void>;
}

/** Opens or creates it, with all its tables. @throws WhetstoneError `store.failed`, `store.full`. */
export async function connect(where: string): Promise<Database> {
  await makeFolder(dirname(resolve(where))).catch((e: unknown) => {
    throw storeFailure(where, isWhetstoneError(e) ? e.cause : e);
  });
  const thread = await sqliteThread(where).catch((e: unknown) => {
    throw storeFailure(where, e);
  });
  const db = new Kysely<Tables>({ dialect: thread.dialect });
  const opened: Database = {
    kind: "sqlite",
    where,
    db,
    files: [where, `${where}-wal`],
    async scrub() {
      await sql`vacuum`.execute(db);
      await sql`pragma wal_checkpoint(truncate)`.execute(db);
    },
    failure: (cause) => storeFailure(where, cause),
    async close() {
      await db.destroy();
      await thread.close();
    },
  };
  await migrated(opened);
  return opened;
}

/** Brings the tables to this version; closes the database where that fails. */
export async function migrated({
  kind,
  where,
  db,
  failure,
  close,
}: Pick<Database, "kind" | "where" | "db" | "failure" | "close">): Promise<void> {
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
