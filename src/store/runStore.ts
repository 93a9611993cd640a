/** Runs, metrics, trajectories and evaluations in one database. */

import { basename, resolve } from "node:path";
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { Finding } from "../core/finding.ts";
import type { Interval } from "../core/interval.ts";
import { fromExactJson, type Json, objectOf, textOf, toExactJson } from "../core/json.ts";
import type { Stats, Trajectory } from "../core/types.ts";
import { succeeded } from "../core/types.ts";
import { type ArtefactStore, artefactsOn } from "./artefacts.ts";
import { connect, type Database, type SqliteIn } from "./database.ts";
import type { RunState, RunsTable, Tables, TrajectoriesTable } from "./schema.ts";
import { bytesOf, float32Of } from "./tokens.ts";
import { packTrajectory, unpackTrajectory } from "./turns.ts";

/** Trajectories of this many last iterations are kept, whatever they are. */
export const keptIterations = 50;
/** One in this many of the older ones is kept besides, chosen by a hash of its id. */
export const keptOneIn = 100;

/** What is known of a run at its start. */
export interface RunStart {
  readonly id: string;
  readonly name: string;
  readonly env: string;
  readonly method: string;
  readonly engine: string;
  readonly seed: number;
  readonly config: Json;
  readonly folder: string;
}

/** A stored run. */
export interface Run extends RunStart {
  readonly state: RunState;
  /** ISO 8601 in UTC. */
  readonly started: string;
  /** When the run last wrote something: a run that was killed stays "running". */
  readonly seen: string;
  readonly finished?: string;
  /** `success` and `seconds` of a run that is done, the `error` of one that failed. */
  readonly summary?: Json;
  /** What was wrong with its environment when it began. */
  readonly findings: readonly Finding[];
}

/** Why a run failed, where it did. */
export const errorOf = ({ summary }: Pick<Run, "summary">): string | undefined =>
  textOf(objectOf(summary)?.error);

/** A trajectory to be saved. */
export interface Saved {
  readonly trajectory: Trajectory;
  /** One number per action token, over all turns in order. */
  readonly advantage?: Float32Array;
  /** Which part of the run played it: "train", "before", "after"… */
  readonly phase: string;
  /** Default: the sum of all rewards that the environment paid. */
  readonly reward?: number;
}

/** A stored trajectory without its turns. */
export interface TrajectorySummary {
  readonly run: string;
  readonly iteration: number;
  readonly phase: string;
  readonly id: string;
  readonly task: string;
  readonly episode: string;
  readonly role: string;
  readonly origin: string;
  readonly success?: boolean;
  readonly reward?: number;
  readonly turns: number;
  readonly end: string;
  readonly kept: string;
}

/** A stored trajectory with its turns and tokens. `advantage` has one number per action token. */
export interface StoredTrajectory extends TrajectorySummary {
  readonly trajectory: Trajectory;
  readonly advantage?: Float32Array;
}

/** Selects trajectories of a run; all given fields must match. */
export interface TrajectoryFilter {
  readonly iteration?: number;
  readonly phase?: string;
  readonly task?: string;
  /** An id, or the beginning of one. */
  readonly id?: string;
  /** Only those that failed, or did not succeed. */
  readonly failed?: boolean;
  readonly limit?: number;
}

/** What to look for among the trajectories of a run. */
export interface TrajectorySearch {
  /** Iterations, half-open. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly phase?: string | undefined;
  readonly outcome?: Outcome | undefined;
  /** Rewards, both ends included. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  /** Stands somewhere in the transcript, in upper or lower case. */
  readonly text?: string | undefined;
  readonly order: "newest" | "best" | "worst" | "longest";
  readonly offset: number;
  readonly limit: number;
}
/** How a trajectory ended, as people ask for it: "done" is an end that nobody judged. */
export type Outcome = "success" | "no success" | "done" | "truncated" | "failed";

/** The value of one metric at one iteration of a run. */
export interface Metric {
  readonly iteration: number;
  readonly name: string;
  readonly value: number;
}

/** Of one metric over the iterations `block * width` to before `(block + 1) * width`. */
export interface Extremes {
  readonly block: number;
  readonly name: string;
  readonly low: number;
  readonly high: number;
}

/** Success over the tasks of a split. `iteration` counts the iterations trained before it. */
export interface Evaluation {
  readonly when: "before" | "during" | "after";
  readonly iteration: number;
  readonly split: string;
  readonly mode: string;
  readonly success: Interval;
  readonly reward: number;
  readonly turns: number;
  readonly tasks: number;
  readonly failed: number;
  readonly seconds: number;
  /** Share of the split's tasks that are trained on as well, 0 to 1: above 0, this is not held-out success. */
  readonly trainedShare: number;
  /** One sign for each task, in the order of the split: 1 success, 0 none, - failed. */
  readonly outcomes?: string;
}

/** Runs with their metrics, trajectories, evaluations and artefacts, on SQLite or PostgreSQL. */
export interface RunStore {
  /** The file, or the connection URL without its password. */
  readonly file: string;
  /** Adds the run; one that is there already (a resumed one) is set running again. */
  startRun(run: RunStart): Promise<void>;
  /** Keeps what was found wrong with the run's environment, in place of what was kept before. */
  saveFindings(run: string, findings: readonly Finding[]): Promise<void>;
  finishRun(run: string, state: Exclude<RunState, "running">, summary?: Json): Promise<void>;
  /** Removes a run that never began; a run with metrics stays. */
  dropRun(run: string): Promise<void>;
  /** Writes an iteration in one transaction, replacing its earlier data, and applies the retention rule. */
  saveIteration(
    run: string,
    iteration: number,
    rows: { readonly metrics: Stats; readonly trajectories: readonly Saved[] },
  ): Promise<void>;
  /** Examples are always kept. */
  saveEvaluation(run: string, evaluation: Evaluation, examples?: readonly Saved[]): Promise<void>;
  /** Forgets iterations from this one on, and evaluations of policies trained for longer: the run goes on here. */
  rewind(run: string, iteration: number): Promise<void>;
  /** The last started first. */
  runs(): Promise<readonly Run[]>;
  /** By id, name or folder, or the unique beginning of an id or name. Nothing when there is none. */
  run(name: string): Promise<Run | undefined>;
  /** By iteration, then name. */
  metrics(run: string): Promise<readonly Metric[]>;
  /**
   * Some metrics at evenly spaced iterations, at most `points` of them and the last one included; by iteration, then name.
   * Costs the same however long the run is.
   */
  curves(
    run: string,
    names: readonly string[],
    points: number,
    within?: { readonly from: number; readonly until: number },
  ): Promise<readonly Metric[]>;
  /**
   * Lowest and highest value of every metric in blocks of `width` iterations, of which the first begins at 0. Reads all
   * values of those iterations; a metric without one has no block.
   */
  extremes(
    run: string,
    width: number,
    within: { readonly from: number; readonly until: number },
  ): Promise<readonly Extremes[]>;
  /** Names of the last iteration's metrics, and how many iterations were written. */
  measured(run: string): Promise<{ readonly names: readonly string[]; readonly iterations: number }>;
  evaluations(run: string): Promise<readonly Evaluation[]>;
  trajectories(run: string, filter?: TrajectoryFilter): Promise<readonly TrajectorySummary[]>;
  /** One page of those that fit, and how many there are. */
  searchTrajectories(
    run: string,
    search: TrajectorySearch,
  ): Promise<{ readonly found: readonly TrajectorySummary[]; readonly total: number }>;
  /** With its turns and tokens: the first that fits. */
  trajectory(run: string, filter: TrajectoryFilter): Promise<StoredTrajectory | undefined>;
  /** Words that people gave to runs, by run. */
  tags(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Replaces the tags of a run. */
  setTags(run: string, tags: readonly string[]): Promise<void>;
  /** All versions of the artefacts that agents used; see also `Production`. */
  readonly artefacts: ArtefactStore;
  close(): Promise<void>;
}

/**
 * @param where a SQLite file, or the URL of a PostgreSQL database.
 * @param sqlite a server's works in a thread of its own. Default: in this one.
 * @throws WhetstoneError `store.failed` when it cannot be opened or is no store.
 */
export async function openRunStore(where: string, sqlite: SqliteIn = "this thread"): Promise<RunStore> {
  return runStoreOn(await connect(where, sqlite));
}

/** A store on a database that is open already, with its tables. */
export function runStoreOn(database: Database): RunStore {
  const { db, where: file, failure, close } = database;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (e) {
      throw failure(e);
    }
  };

  const select = (run: string, filter: TrajectoryFilter) => {
    let query = db.selectFrom("trajectories").where("run", "=", run);
    if (filter.iteration !== undefined) query = query.where("iteration", "=", filter.iteration);
    if (filter.phase !== undefined) query = query.where("phase", "=", filter.phase);
    if (filter.task !== undefined) query = query.where("task", "=", filter.task);
    if (filter.id !== undefined) {
      const id = filter.id;
      query = query.where((e) => e.fn<string>("substr", ["id", e.val(1), e.val(id.length)]), "=", id);
    }
    if (filter.failed === true)
      query = query.where((e) => e.or([e("end_kind", "!=", "done"), e("success", "=", 0)]));
    if (filter.limit !== undefined) query = query.limit(filter.limit);
    return query.orderBy("iteration").orderBy("phase").orderBy("id");
  };

  const lastIteration = async (run: string): Promise<number | undefined> => {
    const row = await db
      .selectFrom("metrics")
      .select("iteration")
      .where("run", "=", run)
      .orderBy("iteration", "desc")
      .limit(1)
      .executeTakeFirst();
    return row?.iteration;
  };

  const store: RunStore = {
    file,
    artefacts: artefactsOn(database, guarded),
    startRun: (run) =>
      guarded(async () => {
        const now = new Date().toISOString();
        const row = {
          ...run,
          config: toExactJson(run.config),
          folder: resolve(run.folder),
          state: "running" as const,
          seen: now,
          finished: null,
          summary: null,
          findings: null,
        };
        const { id: _, ...again } = row;
        await db
          .insertInto("runs")
          .values({ ...row, started: now })
          .onConflict((c) => c.column("id").doUpdateSet(again))
          .execute();
      }),

    saveFindings: (run, findings) =>
      guarded(async () => {
        await db
          .updateTable("runs")
          .set({ findings: toExactJson(findings) })
          .where("id", "=", run)
          .execute();
      }),

    finishRun: (run, state, summary) =>
      guarded(async () => {
        const now = new Date().toISOString();
        await db
          .updateTable("runs")
          .set({
            state,
            finished: now,
            seen: now,
            summary: summary === undefined ? null : toExactJson(summary),
          })
          .where("id", "=", run)
          .execute();
      }),

    dropRun: (run) =>
      guarded(async () => {
        const has = (table: "metrics" | "evaluations") =>
          db.selectFrom(table).select("run").where("run", "=", run).limit(1);
        await db
          .deleteFrom("runs")
          .where("id", "=", run)
          .where(({ not, exists }) => not(exists(has("metrics"))))
          .where(({ not, exists }) => not(exists(has("evaluations"))))
          .execute();
      }),

    saveIteration: (run, iteration, { metrics, trajectories }) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          await tx
            .updateTable("runs")
            .set({ seen: new Date().toISOString() })
            .where("id", "=", run)
            .execute();
          await tx.deleteFrom("metrics").where("run", "=", run).where("iteration", "=", iteration).execute();
          await tx
            .deleteFrom("trajectories")
            .where("run", "=", run)
            .where("iteration", "=", iteration)
            .where("kept", "!=", "example")
            .execute();
          for (const [name, value] of Object.entries(metrics)) {
            await tx
              .insertInto("metrics")
              .values({ run, iteration, name, value: orNull(value) })
              .execute();
          }
          for (const saved of trajectories) {
            await tx
              .insertInto("trajectories")
              .values(trajectoryRow(run, iteration, saved, whyKept(saved)))
              .execute();
          }
          await tx
            .deleteFrom("trajectories")
            .where("run", "=", run)
            .where("kept", "=", "recent")
            .where("iteration", "<=", iteration - keptIterations)
            .execute();
        }),
      ),

    saveEvaluation: (run, { when, iteration, success, ...rest }, examples = []) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          const values = {
            mean: orNull(success.mean),
            low: orNull(success.low),
            high: orNull(success.high),
            n: success.n,
            reward: orNull(rest.reward),
            turns: orNull(rest.turns),
            tasks: rest.tasks,
            failed: rest.failed,
            seconds: rest.seconds,
            trained_share: rest.trainedShare,
            outcomes: rest.outcomes ?? null,
          };
          await tx
            .insertInto("evaluations")
            .values({ run, moment: when, iteration, split: rest.split, mode: rest.mode, ...values })
            .onConflict((c) => c.columns(["run", "moment", "iteration", "split", "mode"]).doUpdateSet(values))
            .execute();
          for (const saved of examples) {
            const row = trajectoryRow(run, iteration, saved, "example");
            await tx
              .insertInto("trajectories")
              .values(row)
              .onConflict((c) => c.columns(["run", "iteration", "phase", "id"]).doUpdateSet(row))
              .execute();
          }
        }),
      ),

    rewind: (run, iteration) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          await tx.deleteFrom("metrics").where("run", "=", run).where("iteration", ">=", iteration).execute();
          await tx
            .deleteFrom("trajectories")
            .where("run", "=", run)
            .where((e) =>
              e.or([
                e.and([e("kept", "!=", "example"), e("iteration", ">=", iteration)]),
                e("iteration", ">", iteration),
              ]),
            )
            .execute();
          await tx
            .deleteFrom("evaluations")
            .where("run", "=", run)
            .where((e) => e.or([e("moment", "=", "after"), e("iteration", ">", iteration)]))
            .execute();
        }),
      ),

    runs: () =>
      guarded(async () =>
        (await db.selectFrom("runs").selectAll().orderBy("started", "desc").orderBy("id").execute()).map(
          runOf,
        ),
      ),

    run: (name) =>
      guarded(async () => {
        const known = await db.selectFrom("runs").selectAll().where("id", "=", name).executeTakeFirst();
        if (known) return runOf(known);
        const all = await store.runs();
        const folder = resolve(name);
        const placed = all.find((r) => r.folder === folder);
        if (placed) return placed;
        // the last started wins among runs of one folder name; an ambiguous beginning is nobody
        const named = all.find((r) => r.name === name || basename(r.folder) === name);
        if (named) return named;
        const begun = all.filter((r) => name !== "" && (r.id.startsWith(name) || r.name.startsWith(name)));
        return begun.length === 1 ? begun[0] : undefined;
      }),

    metrics: (run) =>
      guarded(async () =>
        (
          await db
            .selectFrom("metrics")
            .select(["iteration", "name", "value"])
            .where("run", "=", run)
            .orderBy("iteration")
            .orderBy("name")
            .execute()
        ).map((m) => ({ ...m, value: m.value ?? Number.NaN })),
      ),

    curves: (run, names, points, within) =>
      guarded(async () => {
        const last = await lastIteration(run);
        if (last === undefined || names.length === 0) return [];
        const until = Math.min(within?.until ?? last + 1, last + 1);
        const iterations = evenly(within?.from ?? 0, until, points);
        if (iterations.length === 0) return [];
        const rows = await db
          .selectFrom("metrics")
          .select(["iteration", "name", "value"])
          .where("run", "=", run)
          .where("iteration", "in", iterations)
          .where("name", "in", names)
          .orderBy("iteration")
          .orderBy("name")
          .execute();
        return rows.map((m) => ({ ...m, value: m.value ?? Number.NaN }));
      }),

    extremes: (run, width, { from, until }) =>
      guarded(async () => {
        // whole numbers, divided as such by both databases
        const block = sql<number>`iteration / ${sql.lit(Math.trunc(width))}`;
        return db
          .selectFrom("metrics")
          .select(({ fn }) => [
            block.as("block"),
            "name",
            fn.min<number>("value").as("low"),
            fn.max<number>("value").as("high"),
          ])
          .where("run", "=", run)
          .where("iteration", ">=", from)
          .where("iteration", "<", until)
          .where("value", "is not", null)
          .groupBy([block, "name"])
          .orderBy(block)
          .orderBy("name")
          .execute();
      }),

    measured: (run) =>
      guarded(async () => {
        const last = await lastIteration(run);
        if (last === undefined) return { names: [], iterations: 0 };
        const rows = await db
          .selectFrom("metrics")
          .select("name")
          .where("run", "=", run)
          .where("iteration", "=", last)
          .orderBy("name")
          .execute();
        return { names: rows.map((m) => m.name), iterations: last + 1 };
      }),

    evaluations: (run) =>
      guarded(async () =>
        (
          await db
            .selectFrom("evaluations")
            .selectAll()
            .where("run", "=", run)
            .orderBy("iteration")
            .orderBy("moment", "desc")
            .orderBy("split")
            .orderBy("mode", "desc")
            .execute()
        ).map(({ run: _, moment, mean, low, high, n, reward, turns, trained_share, outcomes, ...e }) => ({
          ...e,
          ...(outcomes !== null && { outcomes }),
          when: moment as Evaluation["when"],
          trainedShare: trained_share,
          success: { mean: mean ?? Number.NaN, low: low ?? Number.NaN, high: high ?? Number.NaN, n },
          reward: reward ?? Number.NaN,
          turns: turns ?? Number.NaN,
        })),
      ),

    trajectories: (run, filter = {}) =>
      guarded(async () => (await select(run, filter).select(summaryColumns).execute()).map(summaryOf)),

    searchTrajectories: (run, search) =>
      guarded(async () => {
        const fitting = searched(db, run, search);
        const { total } = await fitting
          .select((e) => e.fn.countAll<number | string>().as("total"))
          .executeTakeFirstOrThrow();
        const rows = await inOrder(fitting.select(summaryColumns), search.order)
          .limit(search.limit)
          .offset(search.offset)
          .execute();
        return { found: rows.map(summaryOf), total: Number(total) };
      }),

    tags: () =>
      guarded(async () => {
        const rows = await db.selectFrom("run_tags").selectAll().orderBy("tag").execute();
        const byRun = new Map<string, string[]>();
        for (const { run, tag } of rows) byRun.set(run, [...(byRun.get(run) ?? []), tag]);
        return byRun;
      }),

    setTags: (run, tags) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          // holds the row, so that of two at once the later one stands, whole
          await tx.updateTable("runs").set({ id: run }).where("id", "=", run).execute();
          await tx.deleteFrom("run_tags").where("run", "=", run).execute();
          const rows = [...new Set(tags)].map((tag) => ({ run, tag }));
          if (rows.length > 0) await tx.insertInto("run_tags").values(rows).execute();
        }),
      ),

    trajectory: (run, filter) =>
      guarded(async () => {
        const row = await select(run, { ...filter, limit: 1 })
          .selectAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        return {
          ...summaryOf(row),
          trajectory: unpackTrajectory(row),
          ...(row.advantage !== null && { advantage: float32Of(row.advantage) }),
        };
      }),

    close,
  };
  return store;
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

function searched(db: Kysely<Tables>, run: string, search: TrajectorySearch) {
  let query = db.selectFrom("trajectories").where("run", "=", run);
  if (search.from !== undefined) query = query.where("iteration", ">=", search.from);
  if (search.until !== undefined) query = query.where("iteration", "<", search.until);
  if (search.phase !== undefined) query = query.where("phase", "=", search.phase);
  if (search.least !== undefined) query = query.where("reward", ">=", search.least);
  if (search.most !== undefined) query = query.where("reward", "<=", search.most);
  switch (search.outcome) {
    case undefined:
      break;
    case "success":
    case "no success":
      query = query
        .where("end_kind", "=", "done")
        .where("success", "=", search.outcome === "success" ? 1 : 0);
      break;
    case "done":
      query = query.where("end_kind", "=", "done").where("success", "is", null);
      break;
    default:
      query = query.where("end_kind", "=", search.outcome);
  }
  if (search.text) {
    // as it stands in the JSON that holds the transcript
    const written = JSON.stringify(search.text.toLowerCase()).slice(1, -1);
    const pattern = `%${written.replaceAll(/[!%_]/g, "!$&")}%`;
    query = query.where(sql<boolean>`lower(data) like ${pattern} escape '!'`);
  }
  return query;
}

function inOrder<T>(query: SelectQueryBuilder<Tables, "trajectories", T>, order: TrajectorySearch["order"]) {
  const first = {
    newest: query,
    best: query.orderBy(sql`coalesce(reward, -1e300)`, "desc"),
    worst: query.orderBy(sql`coalesce(reward, 1e300)`),
    longest: query.orderBy("turns", "desc"),
  }[order];
  return first.orderBy("iteration", "desc").orderBy("phase").orderBy("id");
}

const summaryColumns = [
  "run",
  "iteration",
  "phase",
  "id",
  "task",
  "episode",
  "role",
  "origin",
  "success",
  "reward",
  "turns",
  "end_kind",
  "kept",
] as const;

function summaryOf(row: Pick<TrajectoriesTable, (typeof summaryColumns)[number]>): TrajectorySummary {
  const { success, reward, end_kind: end } = row;
  return {
    run: row.run,
    iteration: row.iteration,
    phase: row.phase,
    id: row.id,
    task: row.task,
    episode: row.episode,
    role: row.role,
    origin: row.origin,
    ...(success !== null && { success: success === 1 }),
    ...(reward !== null && { reward }),
    turns: row.turns,
    end,
    kept: row.kept,
  };
}

function runOf({ config, summary, finished, findings, ...row }: RunsTable): Run {
  return {
    ...row,
    config: fromExactJson(config) as Json,
    ...(finished !== null && { finished }),
    ...(summary !== null && { summary: fromExactJson(summary) as Json }),
    findings: findings === null ? [] : (fromExactJson(findings) as readonly Finding[]),
  };
}

function trajectoryRow(run: string, iteration: number, saved: Saved, kept: string): TrajectoriesTable {
  const { trajectory: t, phase, advantage } = saved;
  const paid = t.turns.flatMap((turn) => Object.values(turn.rewards));
  const reward = saved.reward ?? (paid.length > 0 ? paid.reduce((a, b) => a + b, 0) : Number.NaN);
  const judged = t.end.kind !== "done" || t.end.success !== undefined;
  return {
    run,
    iteration,
    phase,
    id: t.id,
    task: t.task,
    episode: t.episode,
    role: t.role,
    origin: t.origin,
    success: judged ? Number(succeeded(t)) : null,
    reward: orNull(reward),
    turns: t.turns.length,
    end_kind: t.end.kind,
    kept,
    ...packTrajectory(t),
    advantage: advantage === undefined ? null : bytesOf(advantage),
  };
}

/** Failed: broken, cut off, or ended without success. An end that nobody judged is no failure. */
export function whyKept({ trajectory: { id, end } }: Saved): "failed" | "sampled" | "recent" {
  if (end.kind !== "done" || end.success === false) return "failed";
  return fnv1a(id) % keptOneIn === 0 ? "sampled" : "recent";
}

/** FNV-1a, 32 bits, with a final mix: short ids differ in their last characters only. */
function fnv1a(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}

/** At most `points` whole numbers from `from` to before `until`, evenly spaced, both ends included. */
export function evenly(from: number, until: number, points: number): number[] {
  const count = Math.min(until - from, points);
  if (count <= 1) return count === 1 ? [until - 1] : [];
  return Array.from({ length: count }, (_, i) => from + Math.round((i * (until - 1 - from)) / (count - 1)));
}
