/** Whether a file that somebody hands over holds the tables of a store and nothing that would run by itself. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { DatabaseSync } from "node:sqlite";
import { Migrator } from "kysely";
import { sqlite } from "../common/files/sqlite.ts";
import { WhetstoneError } from "../core/errors.ts";
import { sqliteDatabase } from "./connect.ts";
import { migrations } from "./migrations.ts";
import { asItIs } from "./sqlite.ts";
import { requireNotNewer, stepsIn } from "./storeVersion.ts";

const stepsTable = "table kysely_migration";
/** Tables that SQLite adds itself, by the statements that it writes: it reads those of `analyze` at every opening. */
const itsOwn: ReadonlyMap<string, string> = new Map([
  ["table sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"],
  ["table sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"],
  ["table sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"],
]);

/** A statement without its spelling, which is that of a library: case and space count within quotes only. */
const spelt = (sql: string): string =>
  sql
    .split(/("[^"]*")/)
    .map((part) =>
      part.startsWith('"')
        ? part
        : part.replaceAll(/[ \t\n\f\r]+/g, " ").replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    )
    .join("");

/** Statements that made what is there, by kind and name: `table runs`. Indexes that belong to a table's statement have none of their own. */
function schemaOf(database: DatabaseSync): ReadonlyMap<string, string> {
  const rows = database.prepare("select type, name, sql from sqlite_schema").all();
  const named = rows.filter(({ type, sql }) => type !== "index" || sql !== null);
  return new Map(named.map(({ type, name, sql }) => [`${type} ${name}`, spelt(String(sql))]));
}

interface Known {
  /** Statements by which any version made a thing: a step that was interrupted leaves some things as the next version has them. */
  readonly ever: ReadonlyMap<string, ReadonlySet<string>>;
  /** What is there after a step. */
  readonly after: ReadonlyMap<string, readonly string[]>;
}

async function knownSchemas(): Promise<Known> {
  const made = new (sqlite().DatabaseSync)(":memory:");
  const { db } = sqliteDatabase(made, ":memory:");
  const ever = new Map([...itsOwn].map(([what, sql]) => [what, new Set([spelt(sql)])]));
  const after = new Map<string, readonly string[]>();
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations("blob") } });
    for (const step of Object.keys(migrations("blob"))) {
      const { error } = await migrator.migrateTo(step);
      if (error !== undefined) throw error;
      const schema = schemaOf(made);
      after.set(step, [...schema.keys()]);
      for (const [what, sql] of schema) ever.set(what, (ever.get(what) ?? new Set()).add(sql));
    }
    return { ever, after };
  } finally {
    await db.destroy();
  }
}

/**
 * Whether the names of the tables can be read: SQLite reads what `analyze` counted with them, and runs what a copy computes in its
 * place. Another process tries, which can be ended. What else is wrong with the file is found later.
 * @throws WhetstoneError `store.failed` for a copy that takes longer.
 */
export async function requireReadable(file: string, seconds = 10): Promise<void> {
  const read =
    "new (require('node:sqlite').DatabaseSync)(process.argv[1], { readOnly: true }).prepare('select 1 from sqlite_schema').get()";
  const reader = spawn(process.execPath, ["-e", read, asItIs(file)], { stdio: "ignore" });
  const ended = once(reader, "close");
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.kill("SIGKILL");
  }, 1000 * seconds);
  await ended.finally(() => clearTimeout(timer));
  if (isLate) throw foreign(file, `tables whose names take longer than ${seconds} s to read`);
}

/**
 * Triggers and views of a copy would run with the statements of whoever opens it, and a view in the place of a table need not end. No row of the
 * copy is read before its tables are known.
 * @param from name of the copy. @throws WhetstoneError `store.failed` for a copy that holds anything but the tables and indexes of a store.
 */
export async function requireOwnSchema(database: DatabaseSync, from: string): Promise<void> {
  const there = schemaOf(database);
  const { ever, after } = await knownSchemas();
  const requireKnown = (what: string): void => {
    if (!ever.get(what)?.has(there.get(what)!)) throw foreign(from, quoted(what, "which no store holds"));
  };
  // before any row is read
  for (const what of [stepsTable, ...itsOwn.keys()]) if (there.has(what)) requireKnown(what);
  const steps = there.has(stepsTable) ? stepsIn(database) : [];
  // a newer version may have more tables
  requireNotNewer(from, steps);
  for (const what of there.keys()) requireKnown(what);
  const missing = (after.get(steps.toSorted().at(-1) ?? "001-runs") ?? []).find(
    (what) => what.startsWith("table ") && !there.has(what),
  );
  if (missing !== undefined) throw foreign(from, quoted(missing, "which is missing"));
}

const quoted = (what: string, why: string): string => `${JSON.stringify(what.slice(0, 80))}, ${why}`;

const foreign = (from: string, got: string): WhetstoneError =>
  new WhetstoneError("store.failed", {
    where: from,
    got,
    expected: "the tables and indexes of a Whetstone store, and nothing else",
    fix: "Drop from the copy what you added to the store yourself, or use another copy; nothing was replaced.",
  });
