/** Erases data of a user or session, or data that is too old: rows, free pages, log and exported files; then searches for remains. */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { isMissing } from "../common/files/files.ts";
import type { Origins } from "../core/artefact.ts";
import type { Id } from "../core/types.ts";
import { artefactFolders, countNaming, eraseParts, originsKept } from "./artefacts.ts";
import { artefactFileNames } from "./artefactText.ts";
import { searchBytes } from "./byteSearch.ts";
import { readResponse } from "./chain.ts";
import type { Database } from "./database.ts";
import { entriesFrom, eraseEntries } from "./entryStore.ts";
import { erasedAmong, hashOf, heldFor, type Subject, sourcesOf } from "./erased.ts";
import { dropRows } from "./exportedFiles.ts";
import { addRecord, readRecords } from "./records.ts";
import { redactor } from "./redaction.ts";
import type { ResponsesTable, Tables } from "./schema.ts";
import { packResponse, targetsOf, unpackSignal } from "./served.ts";
import type { Erase, Erasure, ExportRecord } from "./trafficStore.ts";

/** Data outside the store's reach that may derive from erased data. */
const learnt = ["checkpoints, journals, weights and run stores of runs that were trained on it"];

/** Most rows that one transaction deletes. */
const round = 1000;

/** Names of everything to erase, by kind. */
type Gone = Readonly<Record<Subject | "user" | "signal" | "traced", Set<Id>>>;

/**
 * A session is erased as a whole, even if other users took part, since its prompts repeat earlier messages. With an age limit,
 * each row is erased by its own age, and the rest of a trajectory is rewritten so that it needs no older rows.
 * An interrupted erasure can be repeated at any time.
 */
export async function erase(database: Database, secret: Buffer, what: Erase): Promise<Erasure> {
  const { db } = database;
  const gone: Gone = {
    response: new Set(),
    session: new Set(),
    trajectory: new Set(),
    user: new Set("user" in what ? keptNames(secret, what.user) : []),
    signal: new Set(),
    traced: new Set(),
  };
  const touched = await sessionsOf(db, secret, what);
  const goes = (record: ExportRecord, row: ExportRecord["rows"][number]): boolean =>
    "before" in what && record.at < what.before
      ? true
      : row.sessions.some((id) => touched.has(id)) || row.users.some((id) => gone.user.has(id));
  const before = await rewriteExports(db, goes);
  let others = 0;
  if ("before" in what) await eraseOld(database, secret, what.before, gone);
  else others = await eraseSessions(database, secret, touched, gone);

  // also files that were exported meanwhile, from data that was still there
  const exports = [...before, ...(await rewriteExports(db, goes))];
  const counts = {
    responses: gone.response.size,
    ...("user" in what && { others }),
    signals: gone.signal.size,
    traced: gone.traced.size,
  };
  await noteErased(db, secret, gone);
  const parts = await eraseParts(db, madeFrom(gone));
  const entries = await eraseEntries(db, (from) => madeFrom(gone)({ from }));
  const unscrubbed = await database.scrub();
  const erasure: Erasure = {
    id: randomUUID(),
    at: Date.now(),
    what,
    ...counts,
    exports,
    entries,
    artefacts: [...parts].map(([folder, partsRemoved]) => ({ folder, partsRemoved })),
    found: {
      rows: (await findRows(db, gone)) + (await countNaming(db, everyName(gone))),
      bytes: await findBytes(database, gone),
      exports: await findInExports(db, gone),
    },
    unseen: [...unscrubbed, ...database.unseen, ...learnt],
  };
  await addRecord(db, "erasure", { ...erasure, what: pseudonym(secret, what) });
  return erasure;
}

/** Adds subjects that were erased before: an interrupted erasure may have deleted the rows, but not yet what was made from them. */
async function noteErased(db: Kysely<Tables>, secret: Buffer, gone: Gone): Promise<void> {
  const note = async (parts: readonly Pick<Origins, "from">[]): Promise<void> => {
    for await (const { what, name } of erasedAmong(db, secret, sourcesOf(parts))) gone[what].add(name);
  };
  for await (const origins of originsKept(db)) await note(origins);
  for await (const entries of entriesFrom(db)) await note(entries);
}

/** Whether something was made from data to be erased. */
const madeFrom =
  (gone: Gone) =>
  ({ from }: Pick<Origins, "from">): boolean =>
    from.sessions.some((id) => gone.session.has(id)) ||
    from.users.some((id) => gone.user.has(id)) ||
    from.responses.some((id) => gone.response.has(id)) ||
    from.signals.some((id) => gone.signal.has(id));

const everyName = (gone: Gone): Set<Id> => new Set(Object.values(gone).flatMap((some) => [...some]));

/** Hashes the user's name, since the stored receipt must not contain it. */
const pseudonym = (secret: Buffer, what: Erase): Erase =>
  "user" in what
    ? { user: `erased:${hashOf(secret, "user", what.user)}` }
    : "session" in what
      ? { session: `erased:${hashOf(secret, "session", what.session)}` }
      : what;

/** The name as given, and the pseudonym that redaction stores if the name holds personal data. */
const keptNames = (secret: Buffer, name: string): Id[] => [
  ...new Set([name, redactor({}, secret).name(name)]),
];

/** Sessions with data to be erased. */
async function sessionsOf(db: Kysely<Tables>, secret: Buffer, what: Erase): Promise<Set<Id>> {
  if ("session" in what) return new Set(keptNames(secret, what.session));
  const touched = new Set<Id>();
  for (const table of ["responses", "traced_calls"] as const) {
    const query = db.selectFrom(table).select("session").distinct();
    const rows = await ("user" in what
      ? query.where("user_id", "in", keptNames(secret, what.user))
      : query.where("at", "<", what.before)
    ).execute();
    for (const { session } of rows) touched.add(session);
  }
  return touched;
}

/** Removes rows from exported files and from their records. After a crash between the two steps, the next try completes them. */
async function rewriteExports(
  db: Kysely<Tables>,
  goes: (record: ExportRecord, row: ExportRecord["rows"][number]) => boolean,
): Promise<Erasure["exports"]> {
  const rewritten: { file: string; rowsRemoved: number }[] = [];
  for (const record of await readRecords<ExportRecord>(db, "export")) {
    const drop = new Set(record.rows.flatMap((row, i) => (goes(record, row) ? [i] : [])));
    if (drop.size === 0) continue;
    await dropRows(record.file, drop, record.rows.length);
    const rows = record.rows.filter((_, i) => !drop.has(i));
    await addRecord(db, "export", { ...record, rows }, "replace");
    rewritten.push({ file: record.file, rowsRemoved: drop.size });
  }
  return rewritten;
}

/** Runs work in a transaction during which no other transaction writes. */
const erasing = <T>(database: Database, work: (tx: Kysely<Tables>) => Promise<T>): Promise<T> =>
  database.db.transaction().execute(async (tx) => {
    await heldFor("erasing", database, tx);
    return await work(tx);
  });

/** @returns how many responses of users who are not to be erased went as well. */
async function eraseSessions(
  database: Database,
  secret: Buffer,
  sessions: ReadonlySet<Id>,
  gone: Gone,
): Promise<number> {
  let others = 0;
  for (const session of sessions) {
    gone.session.add(session);
    await erasing(database, async (tx) => {
      const rows = await tx
        .selectFrom("responses")
        .select(["id", "trajectory", "user_id"])
        .where("session", "=", session)
        .execute();
      others += rows.filter(({ user_id }) => user_id !== null && !gone.user.has(user_id)).length;
      await forget(tx, secret, rows, gone, [session]);
      await tx.deleteFrom("responses").where("session", "=", session).execute();
      await eraseTraced(tx, gone, (q) => q.where("session", "=", session));
    });
  }
  for (const user of gone.user) {
    await erasing(database, async (tx) => {
      await eraseSignals(tx, gone, (q) => q.where("user_id", "=", user));
      await eraseTraced(tx, gone, (q) => q.where("user_id", "=", user));
    });
  }
  return others;
}

async function eraseOld(database: Database, secret: Buffer, before: number, gone: Gone): Promise<void> {
  for (let more = true; more; ) {
    more = await erasing(database, async (tx) => {
      const rows = await tx
        .selectFrom("responses")
        .select(["id", "trajectory", "session"])
        .where("at", "<", before)
        .orderBy("at")
        .orderBy("id")
        .limit(round)
        .execute();
      const ids = rows.map((row) => row.id);
      if (ids.length === 0) return false;
      const dependent = await tx
        .selectFrom("responses")
        .select("id")
        .where("base", "in", ids)
        .where("id", "not in", ids)
        .execute();
      for (const { id } of dependent) {
        const whole = await readResponse(tx, id);
        if (whole) await tx.updateTable("responses").set(packResponse(whole)).where("id", "=", id).execute();
      }
      await forget(tx, secret, rows, gone, []);
      await tx.deleteFrom("responses").where("id", "in", ids).execute();
      return ids.length === round;
    });
  }
  await erasing(database, async (tx) => {
    await eraseSignals(tx, gone, (q) => q.where("received", "<", before));
    await eraseTraced(tx, gone, (q) => q.where("at", "<", before));
  });
}

/** Stores hashes of the erased subjects, and deletes the signals about them. */
async function forget(
  tx: Kysely<Tables>,
  secret: Buffer,
  rows: readonly Pick<ResponsesTable, "id" | "trajectory">[],
  gone: Gone,
  sessions: readonly Id[],
): Promise<void> {
  const responses = rows.map((row) => row.id);
  // trajectories of a remaining session remain too
  const trajectories = sessions.length > 0 ? [...new Set(rows.map((row) => row.trajectory))] : [];
  const names = { response: responses, session: sessions, trajectory: trajectories };
  for (const [what, some] of Object.entries(names)) {
    for (let i = 0; i < some.length; i += round) {
      const part = some.slice(i, i + round);
      await tx
        .insertInto("erased")
        .values(part.map((name) => ({ hash: hashOf(secret, what, name) })))
        .onConflict((c) => c.doNothing())
        .execute();
      await eraseSignals(tx, gone, (q) =>
        q.where("id", "in", (t) =>
          t.selectFrom("signal_targets").select("signal").where("what", "=", what).where("name", "in", part),
        ),
      );
    }
  }
  for (const id of responses) gone.response.add(id);
  for (const id of trajectories) gone.trajectory.add(id);
}

type Signals = ReturnType<typeof allSignals>;
const allSignals = (db: Kysely<Tables>) => db.selectFrom("signals").selectAll();

async function eraseSignals(tx: Kysely<Tables>, gone: Gone, which: (q: Signals) => Signals): Promise<void> {
  for (;;) {
    const rows = await which(allSignals(tx)).limit(round).execute();
    if (rows.length === 0) return;
    const ids = rows.map((row) => row.id);
    const names = [...new Set(rows.flatMap((row) => targetsOf(unpackSignal(row)).map((t) => t.name)))];
    for (let i = 0; i < names.length; i += round) {
      await tx
        .deleteFrom("signal_targets")
        .where("name", "in", names.slice(i, i + round))
        .where("signal", "in", ids)
        .execute();
    }
    await tx.deleteFrom("signals").where("id", "in", ids).execute();
    for (const id of ids) gone.signal.add(id);
  }
}

type Traced = ReturnType<typeof tracedIds>;
const tracedIds = (db: Kysely<Tables>) => db.selectFrom("traced_calls").select("id");

async function eraseTraced(tx: Kysely<Tables>, gone: Gone, which: (q: Traced) => Traced): Promise<void> {
  for (;;) {
    const ids = (await which(tracedIds(tx)).limit(round).execute()).map(({ id }) => id);
    if (ids.length === 0) return;
    await tx.deleteFrom("traced_calls").where("id", "in", ids).execute();
    for (const id of ids) gone.traced.add(id);
  }
}

/** Number of rows in any table that name an erased subject. */
async function findRows(db: Kysely<Tables>, gone: Gone): Promise<number> {
  const places: readonly (readonly [table: keyof Tables, column: string, names: ReadonlySet<Id>])[] = [
    ["responses", "id", gone.response],
    ["responses", "base", gone.response],
    ["responses", "session", gone.session],
    ["responses", "trajectory", gone.trajectory],
    ["responses", "user_id", gone.user],
    ["traced_calls", "id", gone.traced],
    ["traced_calls", "session", gone.session],
    ["traced_calls", "user_id", gone.user],
    ["signals", "id", gone.signal],
    ["signals", "user_id", gone.user],
    ["signal_targets", "name", new Set([...gone.response, ...gone.session, ...gone.trajectory])],
    ["signal_targets", "signal", gone.signal],
  ];
  let found = 0;
  for (const [table, column, names] of places) {
    const all = [...names];
    for (let i = 0; i < all.length; i += round) {
      const { rows } = await sql<{ n: number | string }>`
        select count(*) as n from ${sql.table(table)} where ${sql.ref(column)} in (${sql.join(all.slice(i, i + round))})
      `.execute(db);
      found += Number(rows[0]?.n ?? 0);
    }
  }
  return found;
}

/** Number of erased names in the bytes of the database's files, not counting names that remaining data contains. */
async function findBytes({ db, contents }: Database, gone: Gone): Promise<number> {
  const names = everyName(gone);
  let found = 0;
  for await (const blocks of contents()) {
    for (const [name, times] of await searchBytes(blocks, names)) {
      if (!(await said(db, name))) found += times;
    }
  }
  return found;
}

/** Whether remaining data contains the text, as part of a longer name or in a message. */
async function said(db: Kysely<Tables>, text: string): Promise<boolean> {
  const like = `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
  const among = async (table: keyof Tables, columns: readonly string[]): Promise<boolean> => {
    const where = sql.join(
      columns.map((column) => sql`${sql.ref(column)} like ${like} escape '\\'`),
      sql` or `,
    );
    const { rows } = await sql`select 1 from ${sql.table(table)} where ${where} limit 1`.execute(db);
    return rows.length > 0;
  };
  return (
    (await among("responses", ["id", "session", "trajectory", "user_id", "data"])) ||
    (await among("signals", ["id", "key", "source", "user_id", "data"])) ||
    (await among("traced_calls", ["id", "session", "user_id", "name", "data"])) ||
    (await among("records", ["id", "data"])) ||
    (await among("entries", ["id", "text", "data"]))
  );
}

/** The file's bytes; none if it is missing: an export that meets the erasure may take its file back at any moment. */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (e) {
    if (!isMissing(e)) throw e;
  }
}

/** Number of erased names in exported files, in their JSON spelling. */
async function findInExports(db: Kysely<Tables>, gone: Gone): Promise<number> {
  const names = [...everyName(gone)].map((name) => JSON.stringify(name));
  const exported = (await readRecords<ExportRecord>(db, "export")).map(({ file }) => file);
  const written = ["artefact.json", ...new Set(Object.values(artefactFileNames).flat())];
  const folders = (await artefactFolders(db)).flatMap((folder) => written.map((name) => join(folder, name)));
  let found = 0;
  for (const file of [...exported, ...folders]) {
    for (const times of (await searchBytes(bytesOf(file), names)).values()) found += times;
  }
  return found;
}
