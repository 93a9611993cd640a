/** The process of untrusted SQL. Started by sql.ts; it ends with its parent. */
import { constants, DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import type { Cell } from "../common/text/tables.ts";
import { messageOf } from "../core/errors.ts";
import { longestMessage, type Stopped } from "./outcome.ts";
import type { SqlLimits, SqlOutcome, SqlStart } from "./sql.ts";
import { allowedFunctions } from "./sqlFunctions.ts";
import type { Watched } from "./sqlWatch.ts";

const watch = import.meta.url.endsWith(".ts") ? "./sqlWatch.ts" : "./sqlWatch.js";
process.on("disconnect", () => process.exit());
const parent = process.ppid;

process.once("message", ({ setup, limits }: SqlStart) => {
  const database = new DatabaseSync(":memory:");
  database.exec(setup);
  // keeps temporary tables out of files
  database.exec("PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY");
  // missing in older Node versions, although the types declare it
  if ("limits" in database) database.limits.length = limits.characters;
  database.setAuthorizer(permit);
  process.on("message", (sql: string) => process.send?.(answer(database, sql, limits)));
  const watched: Watched = { limit: process.memoryUsage.rss() + limits.memory, parent };
  const watching = new Worker(new URL(watch, import.meta.url), { workerData: watched });
  watching.once("online", () => process.send?.("ready"));
});

/** Authorizer callback: SQLite calls it for each action of a statement at compile time. */
function permit(action: number, _of: string | null, name: string | null): number {
  const { SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE, SQLITE_FUNCTION, SQLITE_OK, SQLITE_DENY } = constants;
  const fine =
    action === SQLITE_SELECT ||
    action === SQLITE_READ ||
    action === SQLITE_RECURSIVE ||
    (action === SQLITE_FUNCTION && allowedFunctions.has((name ?? "").toLowerCase()));
  return fine ? SQLITE_OK : SQLITE_DENY;
}

function answer(database: DatabaseSync, sql: string, limits: SqlLimits): SqlOutcome {
  try {
    const statement = database.prepare(sql);
    if (!isBlank(sql.slice(sql.indexOf(statement.sourceSQL) + statement.sourceSQL.length))) {
      return { kind: "error", message: "one statement at a time" };
    }
    const columns = statement.columns().map(({ name }) => name);
    statement.setReturnArrays(true);
    const rows: Cell[][] = [];
    let characters = 0;
    for (const row of statement.iterate()) {
      if (rows.length === limits.rows) return { kind: "output", limit: "rows", at: limits.rows };
      const cells = Object.values(row).map(cellOf);
      for (const cell of cells) characters += String(cell).length;
      if (characters > limits.characters)
        return { kind: "output", limit: "characters", at: limits.characters };
      rows.push(cells);
    }
    return { kind: "ok", columns, rows };
  } catch (e) {
    return stoppedBy(messageOf(e), limits);
  }
}

const isBlank = (sql: string): boolean =>
  /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/.test(sql);

function cellOf(value: unknown): Cell {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  return value instanceof Uint8Array ? `x'${Buffer.from(value).toString("hex")}'` : String(value);
}

function stoppedBy(message: string, { characters }: SqlLimits): Stopped {
  if (/too big/.test(message)) return { kind: "output", limit: "characters", at: characters };
  const words = message === "not authorized" ? "not authorized: only SELECT may be used here" : message;
  return { kind: "error", message: words.slice(0, longestMessage) };
}
