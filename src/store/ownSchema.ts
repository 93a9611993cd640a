/** Whether a file that somebody hands over holds the tables of a store and nothing that would run by itself. */
import type { DatabaseSync } from "node:sqlite";
import { Migrator } from "kysely";
import { sqlite } from "../common/files/sqlite.ts";
import { WhetstoneError } from "../core/errors.ts";
import { sqliteDatabase } from "./connect.ts";
import { migrations } from "./migrations.ts";
import { requireNotNewer, stepsIn } from "./storeVersion.ts";

/** SQLite's own: the counter of entries, and what `analyze` counts. */
const itsOwn = new Set(["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"]);
const stepsTable = "table kysely_migration";

/**
 * Statements that made what is there, by kind and name: `table runs`. Spelling does not count, since it is that of a library.
 * Indexes that belong to a table's statement have none of their own.
 */
function schemaOf(database: DatabaseSync): ReadonlyMap<string, string> {
  const rows = database.prepare("select type, name, sql from sqlite_schema").all();
  const named = rows.filter(({ type, name, sql }) =>
    type === "index" ? sql !== null : type !== "table" || !itsOwn.has(String(name)),
  );
  const spelt = (sql: unknown): string =>
    String(sql).replaceAll('"', "").replaceAll(/\s+/g, " ").toLowerCase();
  return new Map(named.map(({ type, name, sql }) => [`${type} ${name}`, spelt(sql)]));
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
  const [ever, after] = [new Map<string, Set<string>>(), new Map<string, readonly string[]>()];
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
 * Triggers and views of a copy would run with the statements of whoever opens it, and a view in the place of a table need not end. No row of the
 * copy is read before its tables are known.
 * @param from name of the copy. @throws WhetstoneError `store.failed` for a copy that holds anything but the tables and indexes of a store.
 */
export async function requireOwnSchema(database: DatabaseSync, from: string): Promise<void> {
  const there = schemaOf(database);
  const { ever, after } = await knownSchemas();
  const requireKnown = (what: string): void => {
    if (!ever.get(what)?.has(there.get(what)!)) throw foreign(from, what, "which no store holds");
  };
  let steps: readonly string[] = [];
  if (there.has(stepsTable)) {
    requireKnown(stepsTable);
    steps = stepsIn(database);
  }
  // a newer version may have more tables
  requireNotNewer(from, steps);
  for (const what of there.keys()) requireKnown(what);
  const missing = (after.get(steps.toSorted().at(-1) ?? "001-runs") ?? []).find(
    (what) => what.startsWith("table ") && !there.has(what),
  );
  if (missing !== undefined) throw foreign(from, missing, "which is missing");
}

const foreign = (from: string, what: string, why: string): WhetstoneError =>
  new WhetstoneError("store.failed", {
    where: from,
    got: `${JSON.stringify(what.slice(0, 80))}, ${why}`,
    expected: "the tables and indexes of a Whetstone store, and nothing else",
    fix: "Drop from the copy what you added to the store yourself, or use another copy; nothing was replaced.",
  });
