/** The steps by which the tables come to be. */
import type { ColumnDataType, Kysely, Migration } from "kysely";

/**
 * Each can be done again: SQLite keeps what one made before a full disk, or a kill, ended it.
 * @param bytes the database's type for binary data: "blob" in SQLite, "bytea" in PostgreSQL.
 */
export const migrations = (bytes: ColumnDataType): Record<string, Migration> => ({
  "001-runs": { up: (db: Kysely<unknown>) => createRuns(db, bytes) },
  "002-production": { up: (db: Kysely<unknown>) => createProduction(db, bytes) },
  "003-tags": { up: createTags },
  "004-entries": { up: (db: Kysely<unknown>) => createEntries(db, bytes) },
  "005-findings": { up: addFindings },
  "006-outcomes": { up: addOutcomes },
  "007-traced-calls": { up: createTracedCalls },
  "008-tasks": { up: createTasks },
  "009-heads": { up: addHeads },
});

async function createRuns(db: Kysely<unknown>, bytes: ColumnDataType): Promise<void> {
  await db.schema
    .createTable("runs")
    .ifNotExists()
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("env", "text", (c) => c.notNull())
    .addColumn("method", "text", (c) => c.notNull())
    .addColumn("engine", "text", (c) => c.notNull())
    .addColumn("seed", "double precision", (c) => c.notNull())
    .addColumn("config", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("started", "text", (c) => c.notNull())
    .addColumn("seen", "text", (c) => c.notNull())
    .addColumn("finished", "text")
    .addColumn("folder", "text", (c) => c.notNull())
    .addColumn("summary", "text")
    .execute();
  await db.schema
    .createTable("metrics")
    .ifNotExists()
    .addColumn("run", "text", (c) => c.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("iteration", "integer", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("value", "double precision")
    .addPrimaryKeyConstraint("metrics_key", ["run", "iteration", "name"])
    .execute();
  await db.schema
    .createTable("trajectories")
    .ifNotExists()
    .addColumn("run", "text", (c) => c.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("iteration", "integer", (c) => c.notNull())
    .addColumn("phase", "text", (c) => c.notNull())
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("task", "text", (c) => c.notNull())
    .addColumn("episode", "text", (c) => c.notNull())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("origin", "text", (c) => c.notNull())
    .addColumn("success", "integer")
    .addColumn("reward", "double precision")
    .addColumn("turns", "integer", (c) => c.notNull())
    .addColumn("end_kind", "text", (c) => c.notNull())
    .addColumn("kept", "text", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .addColumn("tokens", bytes)
    .addColumn("logp", bytes)
    .addColumn("behaviour", bytes)
    .addColumn("entropy", bytes)
    .addColumn("forced", bytes)
    .addColumn("advantage", bytes)
    .addPrimaryKeyConstraint("trajectories_key", ["run", "iteration", "phase", "id"])
    .execute();
  await db.schema
    .createIndex("trajectories_kept")
    .ifNotExists()
    .on("trajectories")
    .columns(["run", "kept", "iteration"])
    .execute();
  await db.schema
    .createTable("evaluations")
    .ifNotExists()
    .addColumn("run", "text", (c) => c.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("moment", "text", (c) => c.notNull())
    .addColumn("iteration", "integer", (c) => c.notNull())
    .addColumn("split", "text", (c) => c.notNull())
    .addColumn("mode", "text", (c) => c.notNull())
    .addColumn("mean", "double precision")
    .addColumn("low", "double precision")
    .addColumn("high", "double precision")
    .addColumn("n", "integer", (c) => c.notNull())
    .addColumn("reward", "double precision")
    .addColumn("turns", "double precision")
    .addColumn("tasks", "integer", (c) => c.notNull())
    .addColumn("failed", "integer", (c) => c.notNull())
    .addColumn("seconds", "double precision", (c) => c.notNull())
    .addPrimaryKeyConstraint("evaluations_key", ["run", "moment", "iteration", "split", "mode"])
    .execute();
}

async function createProduction(db: Kysely<unknown>, bytes: ColumnDataType): Promise<void> {
  await db.schema
    .createTable("responses")
    .ifNotExists()
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("session", "text", (c) => c.notNull())
    .addColumn("user_id", "text")
    .addColumn("trajectory", "text", (c) => c.notNull())
    .addColumn("turn", "integer", (c) => c.notNull())
    .addColumn("origin", "text", (c) => c.notNull())
    .addColumn("at", "double precision", (c) => c.notNull())
    .addColumn("ms", "double precision", (c) => c.notNull())
    .addColumn("version", "text", (c) => c.notNull())
    .addColumn("propensity", "double precision", (c) => c.notNull())
    .addColumn("split", "text")
    .addColumn("model", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("base", "text")
    .addColumn("data", "text", (c) => c.notNull())
    .addColumn("tokens", bytes)
    .addColumn("logp", bytes)
    .addColumn("behaviour", bytes)
    .addColumn("entropy", bytes)
    .addColumn("forced", bytes)
    // looked at when a transaction ends: a trajectory may be deleted row by row
    .addForeignKeyConstraint("responses_base", ["base"], "responses", ["id"], (c) =>
      c.deferrable().initiallyDeferred(),
    )
    .execute();
  await index(db, "responses", "at", "id");
  await index(db, "responses", "session", "at");
  await index(db, "responses", "user_id");
  await index(db, "responses", "trajectory", "turn");
  await index(db, "responses", "version", "at");
  await index(db, "responses", "base");
  await db.schema
    .createTable("signals")
    .ifNotExists()
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("key", "text", (c) => c.unique())
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("channel", "text", (c) => c.notNull())
    .addColumn("source", "text", (c) => c.notNull())
    .addColumn("user_id", "text")
    .addColumn("value", "double precision")
    .addColumn("at", "double precision", (c) => c.notNull())
    .addColumn("received", "double precision", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .execute();
  await index(db, "signals", "received", "id");
  await index(db, "signals", "user_id");
  await db.schema
    .createTable("signal_targets")
    .ifNotExists()
    .addColumn("what", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("signal", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("signal_targets_key", ["name", "what", "signal"])
    .execute();
  await db.schema
    .createTable("records")
    .ifNotExists()
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("place", "integer", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("records_key", ["kind", "id"])
    .addUniqueConstraint("records_place", ["kind", "place"])
    .execute();
  await db.schema
    .createTable("erased")
    .ifNotExists()
    .addColumn("hash", "text", (c) => c.primaryKey())
    .execute();
  await db.schema
    .createTable("settings")
    .ifNotExists()
    .addColumn("name", "text", (c) => c.primaryKey())
    .addColumn("value", "text", (c) => c.notNull())
    .execute();
}

async function createTags(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("run_tags")
    .ifNotExists()
    .addColumn("run", "text", (c) => c.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("tag", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("run_tags_key", ["run", "tag"])
    .execute();
}

async function createEntries(db: Kysely<unknown>, bytes: ColumnDataType): Promise<void> {
  await db.schema
    .createTable("entries")
    .ifNotExists()
    .$call((table) =>
      bytes === "blob"
        ? table.addColumn("place", "integer", (c) => c.primaryKey().autoIncrement())
        : table.addColumn("place", "serial", (c) => c.primaryKey()),
    )
    .addColumn("collection", "text", (c) => c.notNull())
    .addColumn("id", "text", (c) => c.notNull())
    .addColumn("text", "text", (c) => c.notNull())
    .addColumn("data", "text")
    .addColumn("origins", "text")
    .addColumn("encoder", "text", (c) => c.notNull())
    .addColumn("vector", bytes, (c) => c.notNull())
    .addUniqueConstraint("entries_id", ["collection", "id"])
    .execute();
  await index(db, "entries", "collection", "place");
}

async function createTracedCalls(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("traced_calls")
    .ifNotExists()
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("session", "text", (c) => c.notNull())
    .addColumn("user_id", "text")
    .addColumn("kind", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("at", "double precision", (c) => c.notNull())
    .addColumn("ms", "double precision", (c) => c.notNull())
    .addColumn("data", "text", (c) => c.notNull())
    .execute();
  await index(db, "traced_calls", "session", "at");
  await index(db, "traced_calls", "user_id");
  await index(db, "traced_calls", "at", "id");
}

async function createTasks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("task_episodes")
    .ifNotExists()
    .addColumn("run", "text", (c) => c.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("iteration", "integer", (c) => c.notNull())
    .addColumn("task", "text", (c) => c.notNull())
    .addColumn("role", "text", (c) => c.notNull())
    .addColumn("episodes", "integer", (c) => c.notNull())
    .addColumn("rated", "integer", (c) => c.notNull())
    .addColumn("successes", "integer", (c) => c.notNull())
    .addColumn("rewarded", "integer", (c) => c.notNull())
    .addColumn("reward", "double precision", (c) => c.notNull())
    .addColumn("low", "double precision")
    .addColumn("high", "double precision")
    .addPrimaryKeyConstraint("task_episodes_key", ["run", "iteration", "task", "role"])
    .execute();
  await db.schema
    .createTable("task_words")
    .ifNotExists()
    .addColumn("run", "text", (c) => c.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("task", "text", (c) => c.notNull())
    .addColumn("asked", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("task_words_key", ["run", "task"])
    .execute();
}

async function addFindings(db: Kysely<unknown>): Promise<void> {
  if (!(await hasColumn(db, "runs", "findings")))
    await db.schema.alterTable("runs").addColumn("findings", "text").execute();
  if (!(await hasColumn(db, "evaluations", "trained_share"))) {
    await db.schema
      .alterTable("evaluations")
      .addColumn("trained_share", "double precision", (c) => c.notNull().defaultTo(0))
      .execute();
  }
}

async function addOutcomes(db: Kysely<unknown>): Promise<void> {
  if (!(await hasColumn(db, "evaluations", "outcomes")))
    await db.schema.alterTable("evaluations").addColumn("outcomes", "text").execute();
}

/** Rows that are there already stay without one: a store may hold more than can be read in one go. */
async function addHeads(db: Kysely<unknown>): Promise<void> {
  if (!(await hasColumn(db, "responses", "head")))
    await db.schema.alterTable("responses").addColumn("head", "text").execute();
}

async function hasColumn(db: Kysely<unknown>, table: string, column: string): Promise<boolean> {
  const tables = await db.introspection.getTables();
  return tables.find(({ name }) => name === table)?.columns.some(({ name }) => name === column) === true;
}

const index = (db: Kysely<unknown>, table: string, ...columns: readonly string[]): Promise<void> =>
  db.schema
    .createIndex(`${table}_${columns.join("_")}`)
    .ifNotExists()
    .on(table)
    .columns([...columns])
    .execute();
