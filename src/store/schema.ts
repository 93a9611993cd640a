/** The tables. Types are kept to those that PostgreSQL has too. */
import type { Generated } from "kysely";

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

/** The episodes of a task and role in an iteration of training. */
export interface TaskEpisodesTable {
  run: string;
  iteration: number;
  task: string;
  role: string;
  episodes: number;
  /** Episodes whose end says whether they succeeded, and those that did. */
  rated: number;
  successes: number;
  /** Of the rewards that are known: their number, sum and bounds. */
  rewarded: number;
  reward: number;
  low: number | null;
  high: number | null;
}

/** The first words of a task that was trained on. */
export interface TaskWordsTable {
  run: string;
  task: string;
  asked: string;
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
  /** JSON: what lists and sums say of it. NULL in rows that were written before there was such a column. */
  head: string | null;
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

/** A call of a tool or a retrieval that a tracer reported. */
export interface TracedCallsTable {
  id: string;
  session: string;
  user_id: string | null;
  kind: string;
  name: string;
  /** Times are milliseconds since 1970. */
  at: number;
  ms: number;
  /** JSON: input, output, error, tags. */
  data: string;
}

/** Things that are few: JSON by id. `place` numbers them in the order in which they came. */
export interface RecordsTable {
  /** "version", "split", "key", "price", "export" or "erasure". */
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
  task_episodes: TaskEpisodesTable;
  task_words: TaskWordsTable;
  evaluations: EvaluationsTable;
  responses: ResponsesTable;
  signals: SignalsTable;
  signal_targets: SignalTargetsTable;
  traced_calls: TracedCallsTable;
  records: RecordsTable;
  erased: ErasedTable;
  settings: SettingsTable;
  entries: EntriesTable;
}
