/** A batch of rows in one transaction, in whichever thread the database works. */
import type { Kysely } from "kysely";
import type { Id } from "../core/types.ts";
import type { Database } from "./database.ts";
import { heldFor, requireNoneErased } from "./erased.ts";
import type { Rows, RowsWritten, SignalRows } from "./rows.ts";
import type { ResponsesTable, Tables, TracedCallsTable } from "./schema.ts";

/** Most rows that are written by one statement; SQLite takes 32,766 values in one, PostgreSQL 65,535. */
const mostRows = 512;

/** @throws WhetstoneError `store.erased` where some of it is about what was erased; nothing is written then. */
export function writeRows(
  { kind, db }: Pick<Database, "kind" | "db">,
  secret: Buffer,
  rows: Rows,
): Promise<RowsWritten> {
  return db.transaction().execute(async (tx) => {
    await heldFor("writing", { kind }, tx);
    await requireNoneErased(tx, secret, () => subjectsOf(rows));
    return {
      added: await insertNew(tx, "responses", rows.responses),
      firsts: await insertSignals(tx, rows.signals),
      addedTraced: await insertNew(tx, "traced_calls", rows.traced),
    };
  });
}

const subjectsOf = ({ responses, signals, traced }: Rows) => [
  ...traced.map(({ session }) => ({ kind: "traced call", what: "session", name: session })),
  ...responses.flatMap(({ id, session, trajectory }) => [
    { kind: "response", what: "response", name: id },
    { kind: "response", what: "session", name: session },
    { kind: "response", what: "trajectory", name: trajectory },
  ]),
  ...signals.flatMap(({ targets }) => targets.map(({ what, name }) => ({ kind: "signal", what, name }))),
];

/** @returns the ids of those that were not there before. */
async function insertNew<T extends "responses" | "traced_calls">(
  tx: Kysely<Tables>,
  table: T,
  rows: readonly (T extends "responses" ? ResponsesTable : TracedCallsTable)[],
): Promise<Set<Id>> {
  const added = new Set<Id>();
  for (const part of parts(rows)) {
    const found = await tx
      .insertInto<"responses" | "traced_calls">(table)
      .values(part)
      .onConflict((c) => c.column("id").doNothing())
      .returning("id")
      .execute();
    for (const { id } of found) added.add(id);
  }
  return added;
}

async function insertSignals(
  tx: Kysely<Tables>,
  signals: readonly SignalRows[],
): Promise<RowsWritten["firsts"]> {
  const added = new Set<Id>();
  for (const part of parts(signals)) {
    const found = await tx
      .insertInto("signals")
      .values(part.map(({ row }) => row))
      .onConflict((c) => c.doNothing())
      .returning("id")
      .execute();
    for (const { id } of found) added.add(id);
  }
  // the second of two with one id in one batch finds that its id is taken
  const isNew = signals.map(({ row }) => added.delete(row.id));
  const targets = signals.flatMap((signal, i) => (isNew[i] ? signal.targets : []));
  for (const part of parts(targets)) await tx.insertInto("signal_targets").values(part).execute();

  const byKey = new Map<string | null, Id>();
  for (const part of parts(signals.flatMap(({ row }, i) => (isNew[i] ? [] : (row.key ?? []))))) {
    const found = await tx.selectFrom("signals").select(["id", "key"]).where("key", "in", part).execute();
    for (const { id, key } of found) byKey.set(key, id);
  }
  return signals.map(({ row }, i) => (isNew[i] ? undefined : (byKey.get(row.key) ?? row.id)));
}

/** In powers of two: ten statements are all that is ever compiled and kept, however many rows come together. */
function* parts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < all.length; ) {
    const size = Math.min(mostRows, 2 ** Math.floor(Math.log2(all.length - i)));
    yield all.slice(i, i + size);
    i += size;
  }
}
