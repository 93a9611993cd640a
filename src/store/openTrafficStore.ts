/** Implements `Production` on SQLite and PostgreSQL. */
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import { type Interruptible, inSlices } from "../common/files/slices.ts";
import type { AccessKey, ReceivedSignal, ServedResponse, TrafficSplit, Version } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import { artefactsOn } from "./artefacts.ts";
import { readResponse } from "./chain.ts";
import { connect, type Database } from "./database.ts";
import { erasedAmong, secretOf } from "./erased.ts";
import { erase } from "./erasure.ts";
import { type Recent, recent } from "./recent.ts";
import { addRecord, readRecords } from "./records.ts";
import { type RedactionOptions, type Redactor, redactor } from "./redaction.ts";
import type { ResponsesTable, Tables } from "./schema.ts";
import {
  packResponse,
  packSignal,
  requireStorable,
  sharing,
  targetsOf,
  unpackResponse,
  unpackSignal,
  weightOf,
} from "./served.ts";
import type {
  Erasure,
  ExportRecord,
  ResponseFilter,
  SessionSummary,
  SignalFilter,
  TrafficStore,
  Write,
  Written,
} from "./trafficStore.ts";
import { writeRows } from "./writeRows.ts";

/** Settings of {@link openTrafficStore}. */
export interface TrafficStoreOptions {
  /** Redaction before anything is stored. Default: none. */
  readonly redaction?: RedactionOptions;
}

/** Most rows per read, and most bytes; a single row may hold more. */
const [page, pageBytes] = [200, 4e6];
/** Most tries of a transaction that conflicts with others. */
const mostTries = 4;
/** Characters and tokens of cached conversations, so that a next turn is stored as a difference only. */
const atHand = 16e6;

/**
 * Opens or creates a store.
 * @param where a SQLite file, or the URL of a PostgreSQL database.
 * @throws WhetstoneError `store.failed`, `store.full`; `option.range` for a pattern that could run long.
 */
export async function openTrafficStore(
  where: string,
  options: TrafficStoreOptions = {},
): Promise<TrafficStore> {
  const database = await connect(where, "own thread");
  try {
    return trafficStoreOn(database, await secretOf(database.db), options);
  } catch (e) {
    await database.close();
    throw database.failure(e);
  }
}

/** @param secret the store's secret, from `secretOf`. */
export function trafficStoreOn(
  database: Database,
  secret: Buffer,
  options: TrafficStoreOptions = {},
): TrafficStore {
  const { db, where } = database;
  const redacting = options.redaction && redactor(options.redaction, secret);
  /** The last response of each trajectory, which the next turn continues. */
  const latest = recent<Id, ServedResponse>(atHand, weightOf);
  const writing: NonNullable<Database["write"]> =
    database.write ?? ((...given) => writeRows(database, ...given));
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (e) {
      throw database.failure(e);
    }
  };

  async function write(given: readonly Write[]): Promise<readonly Written[]> {
    const batch = redacting ? await redacting.entries(given, await knownResponses(given, redacting)) : given;
    for (const entry of batch) requireStorable(entry);
    const { bases, responses } = await inSlices(packed(batch));
    const signals = batch.flatMap((entry) => (entry.kind === "signal" ? [entry.signal] : []));
    const { added, firsts } = await writing(secret, {
      responses,
      signals: signals.map((signal) => ({ row: packSignal(signal), targets: targetsOf(signal) })),
    });
    for (const [trajectory, response] of bases) latest.set(trajectory, response);
    let nth = 0;
    // of several with one id in a batch, only one is new
    const fresh = new Set(added);
    return batch.map((entry): Written => {
      if (entry.kind === "response") {
        const { id } = entry.response;
        return { id, duplicate: !fresh.delete(id) };
      }
      const first = firsts[nth++];
      return { id: first ?? entry.signal.id, duplicate: first !== undefined };
    });
  }

  /** Of the response ids in signals that redaction would rename, those that are stored, in the same batch, or erased. */
  async function knownResponses(batch: readonly Write[], { name }: Redactor): Promise<ReadonlySet<Id>> {
    const named = batch.flatMap((entry) => (entry.kind === "signal" ? targetsOf(entry.signal) : []));
    const responses = named.filter((one) => one.what === "response" && name(one.name) !== one.name);
    const known = new Set<Id>();
    if (responses.length === 0) return known;
    for (const entry of batch) if (entry.kind === "response") known.add(entry.response.id);
    for await (const { name } of erasedAmong(db, secret, responses)) known.add(name);
    const ids = [...new Set(responses.map(({ name }) => name))];
    for (let i = 0; i < ids.length; i += 1000) {
      const part = ids.slice(i, i + 1000);
      const found = await db.selectFrom("responses").select("id").where("id", "in", part).execute();
      for (const { id } of found) known.add(id);
    }
    return known;
  }

  /** Responses as rows, and the last one of each trajectory. */
  function* packed(batch: readonly Write[]): Interruptible<{
    readonly bases: ReadonlyMap<Id, ServedResponse>;
    readonly responses: readonly ResponsesTable[];
  }> {
    const bases = new Map<Id, ServedResponse>();
    const responses: ResponsesTable[] = [];
    for (const entry of batch) {
      if (entry.kind !== "response") continue;
      const { response } = entry;
      const last = bases.get(response.trajectory) ?? latest.get(response.trajectory);
      const base = last?.id === response.id ? undefined : last;
      const held = base ? sharing(response, base) : response;
      responses.push(packResponse(held, base));
      bases.set(response.trajectory, held);
      yield;
    }
    return { bases, responses };
  }

  /** The response of a row, expanded with the responses that it continues. */
  async function expanded(row: ResponsesTable, known: Recent<Id, ServedResponse>): Promise<ServedResponse> {
    const base = row.base === null ? undefined : (known.get(row.base) ?? (await readResponse(db, row.base)));
    const response = unpackResponse(row, base);
    known.set(row.id, response);
    return response;
  }

  async function* responses(filter: ResponseFilter = {}): AsyncGenerator<ServedResponse> {
    const known = recent<Id, ServedResponse>(atHand, weightOf);
    for await (const row of paged(
      (last: Place | undefined) =>
        filteredResponses(db, filter)
          .select(["id", "at", bytesOf("data", "tokens", "logp", "behaviour", "entropy", "forced")])
          .$if(last !== undefined, (q) =>
            q.where((e) => e(e.refTuple("at", "id"), ">", e.tuple(last!.at, last!.id))),
          )
          .orderBy("at")
          .orderBy("id")
          .limit(page)
          .execute(),
      (ids) =>
        db.selectFrom("responses").selectAll().where("id", "in", ids).orderBy("at").orderBy("id").execute(),
      guarded,
    )) {
      yield await guarded(() => expanded(row, known));
    }
  }

  async function* signals(filter: SignalFilter = {}): AsyncGenerator<ReceivedSignal> {
    for await (const row of paged(
      (last: Place | undefined) =>
        filteredSignals(db, filter)
          .select(["id", "received as at", bytesOf("data")])
          .$if(last !== undefined, (q) =>
            q.where((e) => e(e.refTuple("received", "id"), ">", e.tuple(last!.at, last!.id))),
          )
          .orderBy("received")
          .orderBy("id")
          .limit(page)
          .execute(),
      (ids) =>
        db
          .selectFrom("signals")
          .selectAll()
          .where("id", "in", ids)
          .orderBy("received")
          .orderBy("id")
          .execute(),
      guarded,
    )) {
      yield unpackSignal(row);
    }
  }

  const records = <T>(kind: string) => guarded(() => readRecords<T>(db, kind));
  return {
    where,
    ready: () => guarded(async () => void (await writing(secret, { responses: [], signals: [] }))),
    async write(batch) {
      if (batch.length === 0) return [];
      for (let tries = 1; ; tries++) {
        try {
          return await write(batch);
        } catch (e) {
          if (tries === mostTries || !mayRepeat(e)) throw database.failure(e);
        }
        // retry with whole turns, which need no base that may have been erased
        latest.clear();
      }
    },
    response: (id) => guarded(() => readResponse(db, id)),
    responses,
    signals,
    sessions: (of = {}) => guarded(() => sessionsOf(db, of.limit ?? 100, of.offset ?? 0)),
    addVersion: (version) => guarded(() => addRecord(db, "version", version)),
    versions: () => records<Version>("version"),
    addSplit: (split) => guarded(() => addRecord(db, "split", split)),
    splits: () => records<TrafficSplit>("split"),
    putKey: (key) => guarded(() => addRecord(db, "key", key, "replace")),
    keys: () => records<AccessKey>("key"),
    addExport: (record) => guarded(() => addRecord(db, "export", record, "replace")),
    exports: () => records<ExportRecord>("export"),
    artefacts: artefactsOn(database, guarded),
    erase: (what) =>
      guarded(() => {
        latest.clear();
        return erase(database, secret, what);
      }),
    erasures: () => records<Erasure>("erasure"),
    close: () => database.close(),
  };
}

/**
 * Whether a retry may succeed: a row references another row that another process erased
 * (SQLITE_CONSTRAINT_FOREIGNKEY, foreign_key_violation), or two transactions deadlocked (deadlock_detected).
 */
function mayRepeat(e: unknown): boolean {
  const { errcode, code } = (e ?? {}) as { errcode?: number; code?: string };
  return errcode === 787 || code === "23503" || code === "40P01";
}

/** A row's position in the order, and its size. */
interface Place {
  readonly id: Id;
  readonly at: number;
  /** PostgreSQL returns sums as text. */
  readonly bytes: number | string;
}

/** Size of these columns together. Both databases know it without reading the contents. */
function bytesOf(...columns: readonly (keyof ResponsesTable)[]) {
  const each = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number | string>`${sql.join(each, sql` + `)}`.as("bytes");
}

/**
 * All rows in order, in small pages with a byte limit, since each row may hold megabytes.
 * @param places of the page after this row. @param read rows by their ids, in the same order.
 */
async function* paged<Row>(
  places: (last: Place | undefined) => Promise<readonly Place[]>,
  read: (ids: readonly Id[]) => Promise<readonly Row[]>,
  guarded: <T>(work: () => Promise<T>) => Promise<T>,
): AsyncGenerator<Row> {
  for (let last: Place | undefined; ; ) {
    const found = await guarded(() => places(last));
    for (const ids of portions(found)) yield* await guarded(() => read(ids));
    last = found.at(-1);
    if (found.length < page) return;
  }
}

/** Ids of rows that are read together. */
function* portions(places: readonly Place[]): Generator<readonly Id[]> {
  let ids: Id[] = [];
  let held = 0;
  for (const { id, bytes } of places) {
    if (ids.length > 0 && held + Number(bytes) > pageBytes) {
      yield ids;
      [ids, held] = [[], 0];
    }
    ids.push(id);
    held += Number(bytes);
  }
  if (ids.length > 0) yield ids;
}

function filteredResponses(db: Kysely<Tables>, filter: ResponseFilter) {
  const { session, user, trajectory, version, split, from, until } = filter;
  let query = db.selectFrom("responses");
  if (session !== undefined) query = query.where("session", "=", session);
  if (user !== undefined) query = query.where("user_id", "=", user);
  if (trajectory !== undefined) query = query.where("trajectory", "=", trajectory);
  if (version !== undefined) query = query.where("version", "=", version);
  if (split !== undefined) query = query.where("split", "=", split);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (until !== undefined) query = query.where("at", "<", until);
  return query;
}

function filteredSignals(
  db: Kysely<Tables>,
  filter: SignalFilter,
): SelectQueryBuilder<Tables, "signals", object> {
  const { session, response, user, channel, kind, from, until } = filter;
  let query = db.selectFrom("signals");
  if (session !== undefined) {
    query = query.where("id", "in", signalsOf(db, [session]).select("signal"));
  }
  if (response !== undefined) {
    query = query.where("id", "in", (q) =>
      q
        .selectFrom("signal_targets")
        .select("signal")
        .where("what", "=", "response")
        .where("name", "=", response),
    );
  }
  if (user !== undefined) query = query.where("user_id", "=", user);
  if (channel !== undefined) query = query.where("channel", "=", channel);
  if (kind !== undefined) query = query.where("kind", "=", kind);
  if (from !== undefined) query = query.where("received", ">=", from);
  if (until !== undefined) query = query.where("received", "<", until);
  return query;
}

/** Sessions and the signals about them, whether a signal names the session, a trajectory or a response. */
function signalsOf(db: Kysely<Tables>, sessions: readonly Id[]) {
  const direct = db
    .selectFrom("signal_targets as t")
    .where("t.what", "=", "session")
    .where("t.name", "in", sessions)
    .select(["t.name as session", "t.signal"]);
  const through = (what: "response" | "trajectory") =>
    db
      .selectFrom("responses as r")
      .innerJoin("signal_targets as t", "t.name", what === "response" ? "r.id" : "r.trajectory")
      .where("t.what", "=", what)
      .where("r.session", "in", sessions)
      .select(["r.session", "t.signal"]);
  return db.selectFrom(direct.union(through("response")).union(through("trajectory")).as("about"));
}

async function sessionsOf(db: Kysely<Tables>, limit: number, offset: number): Promise<SessionSummary[]> {
  const rows = await db
    .selectFrom("responses")
    .groupBy("session")
    .select((e) => [
      "session",
      e.fn.max("user_id").as("user"),
      e.fn.min("at").as("first"),
      e.fn.max("at").as("last"),
      e.fn.countAll<number>().as("responses"),
      e.fn.count<number>("trajectory").distinct().as("trajectories"),
    ])
    .orderBy(sql`max(at)`, "desc")
    .orderBy("session")
    .limit(limit)
    .offset(offset)
    .execute();
  if (rows.length === 0) return [];
  const counts = await signalsOf(
    db,
    rows.map((row) => row.session),
  )
    .groupBy("session")
    .select((e) => ["session", e.fn.count<number>("signal").distinct().as("signals")])
    .execute();
  const signals = new Map(counts.map((row) => [row.session, Number(row.signals)]));
  return rows.map(({ session, user, first, last, responses, trajectories }) => ({
    id: session,
    ...(user !== null && { user }),
    first,
    last,
    responses: Number(responses),
    trajectories: Number(trajectories),
    signals: signals.get(session) ?? 0,
  }));
}
