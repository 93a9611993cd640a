/** The thread that SQLite works in: every commit waits for the disk, and nothing else shall. */

import { constants } from "node:os";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "../common/files/threadPriority.ts";
import { isWhetstoneError, messageOf, type WhetstoneError } from "../core/errors.ts";
import { recent } from "./recent.ts";
import type { Rows, RowsWritten } from "./rows.ts";
import type { Tables } from "./schema.ts";
import { kyselyDatabase, openDatabase, rollback } from "./sqlite.ts";

interface Writing {
  readonly rows: Rows;
  readonly secret: Uint8Array;
}

/** One statement to be run to its end, or rows to be written in a transaction of their own. */
export type Request = { readonly id: number } & (
  | { readonly sql: string; readonly parameters: readonly unknown[] }
  | Writing
);

export type Reply =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly written: RowsWritten }
  | { readonly id: number; readonly error: Failure };

/** What crosses threads of an error of SQLite, or of ours. */
export interface Failure {
  readonly message: string;
  readonly errcode?: number;
  readonly ours?: Pick<WhetstoneError, "code" | "parts">;
}

const port = parentPort!;
const { file } = workerData as { readonly file: string };
const statements = recent<string, StatementSync>(200);

function compiled(database: ReturnType<typeof openDatabase>, sql: string): StatementSync {
  const known = statements.get(sql);
  if (known) return known;
  const statement = database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

function failureOf(e: unknown): Failure {
  if (isWhetstoneError(e)) return { message: e.message, ours: { code: e.code, parts: e.parts } };
  const { errcode } = (e ?? {}) as { errcode?: number };
  return { message: messageOf(e), ...(errcode !== undefined && { errcode }) };
}

/**
 * Of what writes rows. Its SQL builder is hundreds of modules, which most processes, that only look something up, need not
 * read a second time.
 */
async function writerOf(database: DatabaseSync): Promise<(asked: Writing) => Promise<RowsWritten>> {
  const [{ Kysely, SqliteDialect }, { writeRows }] = await Promise.all([
    import("kysely"),
    import("./writeRows.ts"),
  ]);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
  return ({ secret, rows }) => writeRows({ kind: "sqlite", db }, Buffer.from(secret), rows);
}
let writer: ReturnType<typeof writerOf> | undefined;

/** Transactions of rows until what they run is compiled. */
const untilCompiled = 200;
let written = 0;

/**
 * Whoever waits for an answer goes before whoever writes it down: a tenth of the core where both want all of it, which is what a
 * gateway needs that answers as much as one core can. Not at first: code that is not compiled yet takes many times as long, and
 * what is answered meanwhile would be at risk for seconds.
 */
function yieldOnceCompiled(): void {
  if (++written === untilCompiled) lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

/** What is asked for in the middle of the other's transaction would be part of it: whoever asks waits for the answer first. */
async function answered(database: DatabaseSync, asked: Request): Promise<Reply> {
  const { id } = asked;
  if ("rows" in asked) {
    writer ??= writerOf(database);
    const done = await (await writer)(asked);
    yieldOnceCompiled();
    return { id, written: done };
  }
  if (asked.sql !== "rollback") {
    return { id, rows: compiled(database, asked.sql).all(...(asked.parameters as readonly SQLInputValue[])) };
  }
  rollback(database);
  return { id, rows: [] };
}

try {
  const database = openDatabase(file);
  port.on("message", async (asked: Request) => {
    if ("sql" in asked && asked.sql === "close") {
      database.close();
      port.close();
      return;
    }
    const reply = await answered(database, asked).catch(
      (e: unknown): Reply => ({ id: asked.id, error: failureOf(e) }),
    );
    port.postMessage(reply);
  });
  port.postMessage({ id: 0, rows: [] } satisfies Reply);
} catch (e) {
  // of what could not be opened, the database's own words
  const cause = e instanceof Error && e.cause !== undefined ? e.cause : e;
  port.postMessage({ id: 0, error: failureOf(cause) } satisfies Reply);
}
