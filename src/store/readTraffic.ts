/** Reads responses and signals in pages, since they may not fit into memory. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { ReceivedSignal, ResponseHead, ServedResponse, TracedCall } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import { readResponse } from "./chain.ts";
import type { Guarded } from "./database.ts";
import { headOf, mostHeadBytes, unpackHead } from "./head.ts";
import { type Recent, recent } from "./recent.ts";
import type { ResponsesTable, Tables } from "./schema.ts";
import { unpackResponse, unpackSignal, unpackTraced, weightOf } from "./served.ts";
import type {
  ResponseFilter,
  SessionSearch,
  SessionSummary,
  SignalFilter,
  TracedFilter,
} from "./trafficStore.ts";

/** Most rows per read, and most bytes; a single row may hold more. */
const [page, pageBytes] = [200, 4e6];
/** Characters and tokens of cached conversations, so that a row is read without those that it continues. */
const atHand = 16e6;

/** Responses that were read lately, which the rows of next turns continue. */
export const recentResponses = (): Recent<Id, ServedResponse> => recent(atHand, weightOf);

/** The response of a row, expanded with the responses that it continues. */
export async function expanded(
  db: Kysely<Tables>,
  row: ResponsesTable,
  known: Recent<Id, ServedResponse>,
): Promise<ServedResponse> {
  const base = row.base === null ? undefined : (known.get(row.base) ?? (await readResponse(db, row.base)));
  const response = unpackResponse(row, base);
  known.set(row.id, response);
  return response;
}

export async function* readResponses(
  db: Kysely<Tables>,
  guarded: Guarded,
  filter: ResponseFilter = {},
): AsyncGenerator<ServedResponse> {
  const known = recentResponses();
  for await (const row of paged(
    (last: Place | undefined) =>
      db
        .selectFrom("responses")
        .where(matching("responses", filter))
        .select(["id", "at", sizeOf("responses", contents).as("bytes")])
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
    yield await guarded(() => expanded(db, row, known));
  }
}

export async function readHeads(db: Kysely<Tables>, session: Id, most: number): Promise<ResponseHead[]> {
  const rows = await db
    .selectFrom("responses")
    .select(["id", "version", "model", "status"])
    .select(
      sql<string | null>`case when octet_length(head) <= ${sql.lit(mostHeadBytes)} then head end`.as("head"),
    )
    .where("session", "=", session)
    .orderBy("at")
    .orderBy("id")
    .limit(most)
    .execute();
  const heads: ResponseHead[] = [];
  for (const { id, head, ...row } of rows) {
    const known = unpackHead({ ...row, head });
    if (known) heads.push(known);
    else {
      // gone since then: erased
      const response = await readResponse(db, id);
      if (response) heads.push(headOf(response));
    }
  }
  return heads;
}

export async function* readSignals(
  db: Kysely<Tables>,
  guarded: Guarded,
  filter: SignalFilter = {},
): AsyncGenerator<ReceivedSignal> {
  for await (const row of paged(
    (last: Place | undefined) =>
      filteredSignals(db, filter)
        .select(["id", "received as at", sizeOf("signals", ["data"]).as("bytes")])
        .$if(last !== undefined, (q) =>
          q.where((e) => e(e.refTuple("received", "id"), ">", e.tuple(last!.at, last!.id))),
        )
        .orderBy("received")
        .orderBy("id")
        .limit(page)
        .execute(),
    (ids) =>
      db.selectFrom("signals").selectAll().where("id", "in", ids).orderBy("received").orderBy("id").execute(),
    guarded,
  )) {
    yield unpackSignal(row);
  }
}

export async function* readTraced(
  db: Kysely<Tables>,
  guarded: Guarded,
  { session, user }: TracedFilter = {},
): AsyncGenerator<TracedCall> {
  for await (const row of paged(
    (last: Place | undefined) =>
      db
        .selectFrom("traced_calls")
        .$if(session !== undefined, (q) => q.where("session", "=", session!))
        .$if(user !== undefined, (q) => q.where("user_id", "=", user!))
        .select(["id", "at", sizeOf("traced_calls", ["data"]).as("bytes")])
        .$if(last !== undefined, (q) =>
          q.where((e) => e(e.refTuple("at", "id"), ">", e.tuple(last!.at, last!.id))),
        )
        .orderBy("at")
        .orderBy("id")
        .limit(page)
        .execute(),
    (ids) =>
      db.selectFrom("traced_calls").selectAll().where("id", "in", ids).orderBy("at").orderBy("id").execute(),
    guarded,
  )) {
    yield unpackTraced(row);
  }
}

/** A row's position in the order, and its size. */
interface Place {
  readonly id: Id;
  readonly at: number;
  /** PostgreSQL returns sums as text. */
  readonly bytes: number | string;
}

/** The large columns of a response. */
export const contents = ["data", "tokens", "logp", "behaviour", "entropy", "forced"] as const;

/** Size of these columns together. Both databases know it without reading the contents. */
export function sizeOf(rows: string, columns: readonly (keyof ResponsesTable)[]) {
  const each = columns.map((column) => sql`coalesce(octet_length(${sql.ref(`${rows}.${column}`)}), 0)`);
  return sql<number | string>`${sql.join(each, sql` + `)}`;
}

/**
 * All rows in order, in small pages with a byte limit, since each row may hold megabytes.
 * @param places of the page after this row. @param read rows by their ids, in the same order.
 */
async function* paged<Row>(
  places: (last: Place | undefined) => Promise<readonly Place[]>,
  read: (ids: readonly Id[]) => Promise<readonly Row[]>,
  guarded: Guarded,
): AsyncGenerator<Row> {
  for (let last: Place | undefined; ; ) {
    const found = await guarded(() => places(last));
    for (const ids of portions(found)) yield* await guarded(() => read(ids));
    last = found.at(-1);
    if (found.length < page) return;
  }
}

/** Ids of rows that are read together. */
export function* portions(
  places: readonly { readonly id: Id; readonly bytes: number | string | null }[],
): Generator<readonly Id[]> {
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

/** The condition of a filter on the rows of `responses`, under the name that they have in the query. */
export function matching(rows: string, filter: ResponseFilter): RawBuilder<boolean> {
  const column = (name: keyof ResponsesTable) => sql.ref(`${rows}.${name}`);
  const { id, session, user, trajectory, version, split, from, until } = filter;
  const equal = { id, session, user_id: user, trajectory, version, split };
  const tests = (Object.keys(equal) as (keyof typeof equal)[]).flatMap((name) =>
    equal[name] === undefined ? [] : [sql`${column(name)} = ${equal[name]}`],
  );
  if (from !== undefined) tests.push(sql`${column("at")} >= ${from}`);
  if (until !== undefined) tests.push(sql`${column("at")} < ${until}`);
  return tests.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(tests, sql` and `)})`;
}

function filteredSignals(
  db: Kysely<Tables>,
  filter: SignalFilter,
): SelectQueryBuilder<Tables, "signals", object> {
  const { session, parts, response, user, channel, kind, from, until } = filter;
  let query = db.selectFrom("signals");
  if (session !== undefined) {
    const about = parts ? signalsAbout(db, session, parts) : signalsOf(db, [session]).select("signal");
    query = query.where("id", "in", about);
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
export function signalsOf(db: Kysely<Tables>, sessions: readonly Id[]) {
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

/** Signals that name the session or one of the parts. A session may have a hundred thousand others, which are not looked at. */
function signalsAbout(
  db: Kysely<Tables>,
  session: Id,
  { responses, trajectories }: NonNullable<SignalFilter["parts"]>,
) {
  const named = (what: "session" | "trajectory" | "response", names: readonly Id[]) =>
    db.selectFrom("signal_targets").select("signal").where("what", "=", what).where("name", "in", names);
  let about = named("session", [session]);
  // PostgreSQL takes no empty list
  if (trajectories.length > 0) about = about.union(named("trajectory", trajectories));
  if (responses.length > 0) about = about.union(named("response", responses));
  return about;
}

export async function sessionsOf(
  db: Kysely<Tables>,
  { limit = 100, offset = 0, text = "", failed = false }: SessionSearch,
): Promise<SessionSummary[]> {
  const pattern = (words: string): string => `%${words.replaceAll(/[!%_]/g, "!$&")}%`;
  const lower = text.toLowerCase();
  // as it stands in the JSON that holds the messages
  const written = pattern(JSON.stringify(lower).slice(1, -1));
  const holdsText = sql<boolean>`(lower(data) like ${written} escape '!'
    or lower(session) like ${pattern(lower)} escape '!'
    or lower(coalesce(user_id, '')) like ${pattern(lower)} escape '!')`;
  const answered = db
    .selectFrom("responses")
    .groupBy("session")
    .$if(text !== "", (q) =>
      q.where("session", "in", db.selectFrom("responses").select("session").where(holdsText)),
    )
    .$if(failed, (q) =>
      q.where("session", "in", db.selectFrom("responses").select("session").where("status", "=", "failed")),
    )
    .select((e) => ["session", e.fn.max("at").as("last")]);
  const tracedAlone = db
    .selectFrom("traced_calls")
    .groupBy("session")
    .where("session", "not in", db.selectFrom("responses").select("session"))
    .$if(text !== "", (q) =>
      q.where((e) => e.or([holdsText, sql<boolean>`lower(name) like ${pattern(lower)} escape '!'`])),
    )
    .$if(failed, (q) => q.where(sql<boolean>`false`))
    .select((e) => ["session", e.fn.max("at").as("last")]);
  // which sessions these are is read from an index alone; only theirs are counted
  const found = await db
    .selectFrom(answered.unionAll(tracedAlone).as("found"))
    .select("session")
    .orderBy("last", "desc")
    .orderBy("session")
    .limit(limit)
    .offset(offset)
    .execute();
  const ids = found.map(({ session }) => session);
  if (ids.length === 0) return [];
  const summaries = await summariesOf(db, ids);
  return ids.flatMap((id) => summaries.get(id) ?? []);
}

async function summariesOf(db: Kysely<Tables>, ids: readonly Id[]): Promise<Map<Id, SessionSummary>> {
  const answered = await db
    .selectFrom("responses")
    .where("session", "in", ids)
    .groupBy("session")
    .select((e) => [
      "session",
      e.fn.max("user_id").as("user"),
      e.fn.min("at").as("first"),
      e.fn.max("at").as("last"),
      e.fn.countAll<number>().as("responses"),
      e.fn.count<number>("trajectory").distinct().as("trajectories"),
      sql<number>`sum(case when status = 'failed' then 1 else 0 end)`.as("failed"),
      e.fn.avg<number>("ms").as("ms"),
    ])
    .execute();
  const answers = new Set(answered.map(({ session }) => session));
  const others = ids.filter((id) => !answers.has(id));
  const traced =
    others.length === 0
      ? []
      : await db
          .selectFrom("traced_calls")
          .where("session", "in", others)
          .groupBy("session")
          .select((e) => [
            "session",
            e.fn.max("user_id").as("user"),
            e.fn.min("at").as("first"),
            e.fn.max("at").as("last"),
          ])
          .execute();
  const counts = await signalsOf(db, ids)
    .groupBy("session")
    .select((e) => ["session", e.fn.count<number>("signal").distinct().as("signals")])
    .execute();
  const signals = new Map(counts.map((row) => [row.session, Number(row.signals)]));
  const none = { responses: 0, trajectories: 0, failed: 0, ms: 0 };
  return new Map(
    [...answered, ...traced.map((row) => ({ ...row, ...none }))].map((row) => [
      row.session,
      {
        id: row.session,
        ...(row.user !== null && { user: row.user }),
        first: row.first,
        last: row.last,
        responses: Number(row.responses),
        trajectories: Number(row.trajectories),
        signals: signals.get(row.session) ?? 0,
        failed: Number(row.failed),
        ms: Number(row.ms),
      },
    ]),
  );
}
