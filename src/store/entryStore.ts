/** Stores entries for similarity search, on either database. */
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import { z } from "zod";
import type { PackedVector } from "../core/encoder.ts";
import type { EntryAtCursor, OpenEntryStore, StoredEntry } from "../core/entryStore.ts";
import type { Json } from "../core/json.ts";
import type { Provenance } from "../core/trainingExamples.ts";
import { connect } from "./connect.ts";
import { guardedBy } from "./database.ts";
import { heldFor, requireNoneErased, secretOf, sourcesOf } from "./erased.ts";
import type { EntriesTable, Tables } from "./schema.ts";

/** Rows per statement and per page. */
const round = 500;

/**
 * Opens or creates a store for entries only. Erasing a user's data from the same store also removes entries made from it.
 * @param where a file, or a URL that begins with postgres://.
 * @throws WhetstoneError `store.failed`, `store.full`; `put` also throws `store.erased` for entries made from erased data.
 */
export async function openEntryStore(where: string): Promise<OpenEntryStore> {
  const database = await connect(where, "own thread");
  const { db } = database;
  const secret = await secretOf(db);
  const guarded = guardedBy(database);
  const of = (collection: string) => db.selectFrom("entries").where("collection", "=", collection);
  return {
    put: (collection, entries) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          await heldFor("writing", database, tx);
          await requireNoneErased(tx, secret, () => entries.flatMap(subjectsIn));
          // lock, so that places are consecutive and no reader skips one that is not committed yet
          if (database.kind === "postgres") await sql`lock table entries in exclusive mode`.execute(tx);
          for (let i = 0; i < entries.length; i += round) {
            const part = entries.slice(i, i + round);
            await deleteIds(
              tx,
              collection,
              part.map(({ id }) => id),
            );
            await tx
              .insertInto("entries")
              .values(part.map((entry) => packed(collection, entry)))
              .execute();
          }
          const last = await tx
            .selectFrom("entries")
            .select((e) => e.fn.max("place").as("place"))
            .executeTakeFirst();
          return Number(last?.place ?? 0) - entries.length + 1;
        }),
      ),
    delete: (collection, ids) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          for (let i = 0; i < ids.length; i += round)
            await deleteIds(tx, collection, ids.slice(i, i + round));
        }),
      ),
    async *since(collection, place) {
      for (let after = place; ; ) {
        const rows = await guarded(() =>
          paged(of(collection).selectAll().where("place", ">", after)).execute(),
        );
        for (const row of rows) yield unpacked(row);
        const last = rows.at(-1);
        if (last === undefined || rows.length < round) return;
        after = last.place;
      }
    },
    count: (collection) =>
      guarded(async () => {
        const row = await of(collection)
          .select((e) => e.fn.countAll().as("n"))
          .executeTakeFirst();
        return Number(row?.n ?? 0);
      }),
    ids: (collection) =>
      guarded(async () => (await of(collection).select("id").execute()).map(({ id }) => id)),
    close: () => database.close(),
  };
}

/** Entries with origins, one page at a time. */
export async function* entriesFrom(
  db: Kysely<Tables>,
): AsyncGenerator<readonly { readonly place: number; readonly from: Provenance }[]> {
  for (let after = 0; ; ) {
    const rows = await paged(
      db
        .selectFrom("entries")
        .select(["place", "origins"])
        .where("origins", "is not", null)
        .where("place", ">", after),
    ).execute();
    yield rows.map(({ place, origins }) => ({ place, from: provenance.parse(JSON.parse(origins ?? "")) }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < round) return;
    after = last.place;
  }
}

/** Deletes entries made from erased data. @returns the number of deleted entries. */
export async function eraseEntries(db: Kysely<Tables>, goes: (from: Provenance) => boolean): Promise<number> {
  let erased = 0;
  for await (const entries of entriesFrom(db)) {
    const gone = entries.filter(({ from }) => goes(from)).map(({ place }) => place);
    if (gone.length > 0) await db.deleteFrom("entries").where("place", "in", gone).execute();
    erased += gone.length;
  }
  return erased;
}

const paged = <O>(query: SelectQueryBuilder<Tables, "entries", O>) => query.orderBy("place").limit(round);

const deleteIds = (tx: Kysely<Tables>, collection: string, ids: readonly string[]): Promise<unknown> =>
  tx.deleteFrom("entries").where("collection", "=", collection).where("id", "in", ids).execute();

const subjectsIn = ({ from }: StoredEntry) =>
  from === undefined ? [] : sourcesOf([{ from }]).map((subject) => ({ kind: "entry", ...subject }));

const provenance = z.object({
  sessions: z.array(z.string()),
  users: z.array(z.string()),
  responses: z.array(z.string()),
  signals: z.array(z.string()),
});

function packed(collection: string, { id, text, data, from, vector, encoder }: StoredEntry) {
  return {
    collection,
    id,
    text,
    data: data === undefined ? null : JSON.stringify(data),
    origins: from === undefined ? null : JSON.stringify(from),
    encoder,
    vector: bytesOf(vector),
  };
}

function unpacked({ place, id, text, data, origins, encoder, vector }: Row): EntryAtCursor {
  const entry: StoredEntry = {
    id,
    text,
    ...(data !== null && { data: json.parse(JSON.parse(data)) }),
    ...(origins !== null && { from: provenance.parse(JSON.parse(origins)) }),
    encoder,
    vector: vectorOf(vector),
  };
  return { place, entry };
}
type Row = Omit<EntriesTable, "place"> & { readonly place: number };
const json = z.custom<Json>((value) => value !== undefined);

function bytesOf({ scale, bytes }: PackedVector): Uint8Array {
  const out = new Uint8Array(4 + bytes.length);
  new DataView(out.buffer).setFloat32(0, scale, true);
  out.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), 4);
  return out;
}

function vectorOf(stored: Uint8Array): PackedVector {
  const whole = Uint8Array.from(stored);
  return { scale: new DataView(whole.buffer).getFloat32(0, true), bytes: new Int8Array(whole.buffer, 4) };
}
