/** Small records: versions, splits, keys, exports, erasures. Stored as JSON by kind and id, in order of creation. */
import { type Kysely, sql } from "kysely";
import { WhetstoneError } from "../core/errors.ts";
import type { Tables } from "./schema.ts";

/** @throws WhetstoneError `store.refused` if another record has its id, unless `known` is "replace". */
export async function addRecord<T extends { readonly id: string }>(
  db: Kysely<Tables>,
  kind: string,
  record: T,
  known: "refuse" | "replace" = "refuse",
): Promise<void> {
  await insert(db, kind, record, known === "replace");
  if (known === "replace") return;
  const kept = await readRecord<T>(db, kind, record.id);
  if (JSON.stringify(kept) === JSON.stringify(record)) return;
  throw new WhetstoneError("store.refused", {
    where: `${kind} ${record.id}`,
    got: `different content for the id of a stored ${kind}`,
    expected: `a new id`,
    fix: "Choose a new id, since stored records are never changed.",
  });
}

/** Adds a record unless one with its id exists. @returns whether it was added. */
export const keepRecord = <T extends { readonly id: string }>(
  db: Kysely<Tables>,
  kind: string,
  record: T,
): Promise<boolean> => insert(db, kind, record, false);

async function insert<T extends { readonly id: string }>(
  db: Kysely<Tables>,
  kind: string,
  record: T,
  replace: boolean,
): Promise<boolean> {
  const data = JSON.stringify(record);
  const last = sql<number>`(select coalesce(max(place), 0) + 1 from records where kind = ${kind})`;
  for (let tries = 1; ; tries++) {
    try {
      const written = await db
        .insertInto("records")
        .values({ kind, id: record.id, place: last, data })
        .onConflict((c) =>
          replace ? c.columns(["kind", "id"]).doUpdateSet({ data }) : c.columns(["kind", "id"]).doNothing(),
        )
        .returning("id")
        .execute();
      return written.length > 0;
    } catch (e) {
      // another process took the place
      if (tries === 5 || (e as { code?: unknown } | undefined)?.code !== "23505") throw e;
    }
  }
}

/** Reads a record; nothing if the id is unknown. */
export async function readRecord<T>(db: Kysely<Tables>, kind: string, id: string): Promise<T | undefined> {
  const row = await db
    .selectFrom("records")
    .select("data")
    .where("kind", "=", kind)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && (JSON.parse(row.data) as T);
}

/** All records of a kind, oldest first. */
export async function readRecords<T>(db: Kysely<Tables>, kind: string): Promise<T[]> {
  const rows = await db
    .selectFrom("records")
    .select("data")
    .where("kind", "=", kind)
    .orderBy("place")
    .execute();
  return rows.map((row) => JSON.parse(row.data) as T);
}
