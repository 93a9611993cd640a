/** The tables, and how they came to be. Types are kept to those that PostgreSQL has too. */
import type { ColumnDataType, Kysely, Migration } from "kysely";

export const runStates = ["running", "done", "failed", "interrupted"] as const;
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
  /** JSON. */
  summary: string | null;
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
}

export interface Tables {
  runs: RunsTable;
  metrics: MetricsTable;
  trajectories: TrajectoriesTable;
  evaluations: EvaluationsTable;
}

/** @param bytes the database's type for binary data: "blob" in SQLite, "bytea" in PostgreSQL. */
export const migrations = (bytes: ColumnDataType): Record<string, Migration> => ({
  "001-runs": { up: (db: Kysely<unknown>) => createAll(db, bytes) },
});

async function createAll(db: Kysely<unknown>, bytes: ColumnDataType): Promise<void> {
  await db.schema
    .createTable("runs")
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
    .addColumn("run", "text", (c) => c.notNull().references("runs.id").onDelete("cascade"))
    .addColumn("iteration", "integer", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("value", "double precision")
    .addPrimaryKeyConstraint("metrics_key", ["run", "iteration", "name"])
    .execute();
  await db.schema
    .createTable("trajectories")
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
    .on("trajectories")
    .columns(["run", "kept", "iteration"])
    .execute();
  await db.schema
    .createTable("evaluations")
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
