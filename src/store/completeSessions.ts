/** Reads complete sessions with the signals on them: three queries for a page, however many sessions there are. */
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { ReceivedSignal, ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { Guarded } from "./database.ts";
import { contents, expanded, matching, portions, recentResponses, signalsOf, sizeOf } from "./readTraffic.ts";
import type { Tables } from "./schema.ts";
import { unpackSignal } from "./served.ts";
import type { CompleteSession, SessionFilter } from "./trafficStore.ts";

/** Most sessions that one query looks for. */
const page = 1000;

/** A session, and the size of its responses. `at` and `response` are those of its first matching response. */
interface Found {
  readonly id: Id;
  readonly at: number;
  readonly response: Id;
  /** PostgreSQL returns sums as text. */
  readonly bytes: number | string | null;
}

export async function* readSessions(
  db: Kysely<Tables>,
  guarded: Guarded,
  filter: SessionFilter = {},
): AsyncGenerator<CompleteSession> {
  for (let last: Found | undefined; ; ) {
    const found = await guarded(() => findSessions(db, filter, last).execute());
    for (const ids of portions(found)) yield* await guarded(() => readPortion(db, ids, filter));
    last = found.at(-1);
    if (found.length < page) return;
  }
}

/** The sessions whose first matching response comes after that of `last`, in the order of these responses. */
function findSessions(
  db: Kysely<Tables>,
  filter: SessionFilter,
  last: Found | undefined,
): SelectQueryBuilder<Tables, never, Found> {
  const { withSignal } = filter;
  return db
    .selectFrom("responses as r")
    .where(matching("r", filter))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("responses as earlier")
            .select("earlier.id")
            .whereRef("earlier.session", "=", "r.session")
            .where(matching("earlier", filter))
            .where(sql<boolean>`(earlier.at, earlier.id) < (r.at, r.id)`),
        ),
      ),
    )
    .$if(withSignal !== undefined, (q) => q.where(hasSignal(filter)))
    .$if(last !== undefined, (q) =>
      q.where((e) => e(e.refTuple("r.at", "r.id"), ">", e.tuple(last!.at, last!.response))),
    )
    .select(({ selectFrom }) => [
      "r.session as id",
      "r.at",
      "r.id as response",
      selectFrom("responses as s")
        .whereRef("s.session", "=", "r.session")
        .select(sql<number | string>`sum(${sizeOf("s", contents)})`.as("bytes"))
        .as("bytes"),
    ])
    .orderBy("r.at")
    .orderBy("r.id")
    .limit(page);
}

/** Whether a signal of the wanted kind is about the session, one of its trajectories or one of its responses. */
function hasSignal({ withSignal = {}, receivedUntil }: SessionFilter): RawBuilder<boolean> {
  const { kinds, channel } = withSignal;
  const wanted = sql.join(
    [
      sql`true`,
      ...(kinds ? [sql`s.kind in (${sql.join(kinds)})`] : []),
      ...(channel === undefined ? [] : [sql`s.channel = ${channel}`]),
      ...(receivedUntil === undefined ? [] : [sql`s.received < ${receivedUntil}`]),
    ],
    sql` and `,
  );
  const through = (what: "response" | "trajectory", column: "id" | "trajectory") => sql`exists (
    select 1 from responses as q
    join signal_targets as t on t.name = ${sql.ref(`q.${column}`)} and t.what = ${sql.lit(what)}
    join signals as s on s.id = t.signal
    where q.session = r.session and ${wanted}
  )`;
  return sql<boolean>`(exists (
    select 1 from signal_targets as t join signals as s on s.id = t.signal
    where t.what = 'session' and t.name = r.session and ${wanted}
  ) or ${through("response", "id")} or ${through("trajectory", "trajectory")})`;
}

/** Whole sessions, in the order of `ids`. */
async function readPortion(
  db: Kysely<Tables>,
  ids: readonly Id[],
  filter: SessionFilter,
): Promise<readonly CompleteSession[]> {
  const responses = new Map<Id, ServedResponse[]>(ids.map((id) => [id, []]));
  const signals = new Map<Id, ReceivedSignal[]>(ids.map((id) => [id, []]));
  const matched = new Set<Id>();
  const known = recentResponses();
  const rows = await db
    .selectFrom("responses")
    .where("session", "in", ids)
    .selectAll()
    .select(sql<number>`case when ${matching("responses", filter)} then 1 else 0 end`.as("matches"))
    .orderBy("session")
    .orderBy("at")
    .orderBy("id")
    .execute();
  for (const { matches, ...row } of rows) {
    responses.get(row.session)?.push(await expanded(db, row, known));
    if (matches === 1) matched.add(row.id);
  }
  const { receivedUntil } = filter;
  const said = await signalsOf(db, ids)
    .innerJoin("signals as s", "s.id", "about.signal")
    .$if(receivedUntil !== undefined, (q) => q.where("s.received", "<", receivedUntil!))
    .select("about.session")
    .selectAll("s")
    .orderBy("s.received")
    .orderBy("s.id")
    .execute();
  for (const { session, ...row } of said) signals.get(session)?.push(unpackSignal(row));
  return ids.map((id) => {
    const own = responses.get(id) ?? [];
    const matching = new Set(own.map((response) => response.id).filter((one) => matched.has(one)));
    return { id, responses: own, signals: signals.get(id) ?? [], matching };
  });
}
