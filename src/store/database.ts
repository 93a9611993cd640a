/** The common interface of SQLite and PostgreSQL. */
import type { Kysely } from "kysely";
import type { WhetstoneError } from "../core/errors.ts";
import type { Rows, RowsWritten } from "./rows.ts";
import type { Tables } from "./schema.ts";

export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** The file, or the connection URL without its password. */
  readonly where: string;
  readonly db: Kysely<Tables>;
  /** Set if the database runs in a worker thread: writes rows in one transaction, with one message to the thread. */
  readonly write?: (secret: Buffer, rows: Rows) => Promise<RowsWritten>;
  /**
   * Overwrites deleted data in free pages and the log. Takes as long as copying the database.
   * @returns what it may not overwrite or search for remains, where the database gives it less than all rights.
   */
  scrub(): Promise<readonly string[]>;
  /** The bytes of each of its files, if this process may read them. */
  contents(): AsyncIterable<AsyncIterable<Uint8Array>>;
  /** Places outside the store's reach where deleted rows may remain. */
  readonly unseen: readonly string[];
  /** Converts any error of the database to a WhetstoneError. */
  failure(cause: unknown): WhetstoneError;
  close(): Promise<void>;
}

/**
 * The thread that SQLite runs in; servers use a worker thread. A statement that waits for another transaction blocks its whole
 * thread, for ever if that transaction's next statement would come from the same thread.
 */
export type SqliteIn = "own thread" | "this thread";

/** Runs work, and converts any error of the database to a WhetstoneError. */
export type Guarded = <T>(work: () => Promise<T>) => Promise<T>;

export function guardedBy({ failure }: Pick<Database, "failure">): Guarded {
  return async (work) => {
    try {
      return await work();
    } catch (e) {
      throw failure(e);
    }
  };
}
