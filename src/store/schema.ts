/** The tables, and how they came to be. Types are kept to those that PostgreSQL has too. */
import type { ColumnDataType, Generated, Kysely, Migration } from "kysely";

export const runStates = ["running", "done", "failed", "interrupted"] as const;
/** State of a run: "running", "done", "failed" or "interrupted". */
export type RunState = (typeof runStates)[number];

export interface RunsTable {
  id: string;
  name: string;
  env: string;
  method: string;
  engine: string;
  seed: number;
  /** JSON. */
  config: string;
  state: RunState;
  /** Times are ISO 8601 in UTC. */
  started: string;
  /** When the run last wrote something. */
  seen: string;
  finished: string | null;
  folder: string;
  /** JSON: success and seconds of a run that is done, the error of one that failed. */
  summary: string | null;
  /** JSON: what was wrong with its environment. */
  findings: string | null;
}

export interface MetricsTable {
  run: string;
  iteration: number;
  name: string;
  /** NULL stands for NaN. */
  value: number | null;
}

export interface TrajectoriesTable {
  run: string;
  iteration: number;
  phase: string;
  id: string;
  task: string;
  episode: string;
  role: string;
  origin: string;
  success: number | null;
  reward: number | null;
  turns: number;
  end_kind: string;
  /** Why the retention rule keeps it: "recent", "failed", "sampled" or "example". */
  kept: string;
  /** JSON: everything but token arrays. */
  data: string;
  /** Little-endian arrays, as typed arrays have them on every machine that Node runs on. */
  tokens: Uint8Array | null;
  logp: Uint8Array | null;
  /** NULL where it equals logp bit for bit. */
  behaviour: Uint8Array | null;
  entropy: Uint8Array | null;
  forced: Uint8Array | null;
  advantage: Uint8Array | null;
}

export interface EvaluationsTable {
  run: string;
  moment: string;
  iteration: number;
  split: string;
  mode: string;
  mean: number | null;
  low: number | null;
  high: number | null;
  n: number;
  reward: number | null;
  turns: number | null;
  tasks: number;
  failed: number;
  seconds: number;
  trained_share: number;
  outcomes: string | null;
}

/** A served response. Its prompt continues that of `base`, and stores only the new messages. */
export interface ResponsesTable {
  id: string;
  session: string;
  user_id: string | null;
  trajectory: string;
  turn: number;
  origin: string;
  /** Times are milliseconds since 1970. */
  at: number;
  ms: number;
  version: string;
  propensity: number;
  split: string | null;
  model: string;
  status: string;
  /** Another response of its trajectory, which is needed to read this one. */
  base: string | null;
  /** JSON: everything but token arrays. */
  data: string;
  tokens: Uint8Array | null;
  logp: Uint8Array | null;
  behaviour: Uint8Array | null;
  entropy: Uint8Array | null;
  forced: Uint8Array | null;
}

export interface SignalsTable {
  id: string;
  key: string | null;
  kind: string;
  channel: string;
  source: string;
  user_id: string | null;
  value: number | null;
  at: number;
  received: number;
  /** JSON: what it is about, its text, tags. */
  data: string;
}

/** One row for each response, session and trajectory that a signal names. */
export interface SignalTargetsTable {
  /** "response", "session" or "trajectory". */
  what: string;
  name: string;
  signal: string;
}

/** Things that are few: JSON by id. `place` numbers them in the order in which they came. */
export interface RecordsTable {
  /** "version", "split", "key", "export" or "erasure". */
  kind: string;
  id: string;
  place: number;
  data: string;
}

/** Salted hashes of erased subjects, so that the store refuses further data about them. */
export interface ErasedTable {
  hash: string;
}

/** What belongs to the store itself, such as its salt. */
export interface SettingsTable {
  name: string;
  value: string;
}

/** Texts that are looked up by likeness, with their vectors. */
export interface EntriesTable {
  /** Rises with every row, and is never used again. */
  place: Generated<number>;
  collection: string;
  id: string;
  text: string;
  /** JSON. */
  data: string | null;
  /** JSON: what it was made from. */
  origins: string | null;
  encoder: string;
  /** A float32 scale, then a signed byte for each number. */
  vector: Uint8Array;
}

export interface RunTagsTable {
  run: string;
  tag: string;
}

export interface Tables {
  run_tags: RunTagsTable;
  runs: RunsTable;
  metrics: MetricsTable;
  trajectories: TrajectoriesTable;
  evaluations: EvaluationsTable;
  responses: ResponsesTable;
  signals: SignalsTable;
  signal_targets: SignalTargetsTable;
  records: RecordsTable;
  erased: ErasedTable;
  settings: SettingsTable;
  entries: EntriesTable;
}

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
