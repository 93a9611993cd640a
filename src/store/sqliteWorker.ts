/** The thread that SQLite works in: every commit waits for the disk, and nothing else shall. */

import type { SQLInputValue, StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import { recent } from "./recent.ts";
import { openDatabase, rollback } from "./sqlite.ts";

/** One statement to be run to its end. */
export interface Request {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly error: Failure };

/** What crosses threads of an error of SQLite. */
export interface Failure {
  readonly message: string;
  readonly errcode?: number;
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
  const { errcode } = (e ?? {}) as { errcode?: number };
  return { message: messageOf(e), ...(errcode !== undefined && { errcode }) };
}

try {
  const database = openDatabase(file);
  port.on("message", ({ id, sql, parameters }: Request) => {
    let reply: Reply;
    try {
      if (sql === "close") {
        database.close();
        port.close();
        return;
      }
      if (sql === "rollback") {
        rollback(database);
        reply = { id, rows: [] };
      } else {
        reply = { id, rows: compiled(database, sql).all(...(parameters as readonly SQLInputValue[])) };
      }
    } catch (e) {
      reply = { id, error: failureOf(e) };
    }
    port.postMessage(reply);
  });
  port.postMessage({ id: 0, rows: [] } satisfies Reply);
} catch (e) {
  const cause = e instanceof Error && e.cause !== undefined ? e.cause : e;
  port.postMessage({ id: 0, error: failureOf(cause) } satisfies Reply);
}
