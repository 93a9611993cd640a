/** Things that are few and whole: versions, splits, keys, exports, erasures. JSON by kind and id, in the order made. */
import { type Kysely, sql } from "kysely";
import { WhetstoneError } from "../core/errors.ts";
import type { Tables } from "./schema.ts";

/** @throws WhetstoneError `store.refused` where another one has its id, unless it is to be replaced. */
export async function addRecord<T extends { readonly id: string }>(
  db: Kysely<Tables>,
  kind: string,
  record: T,
  known: "refuse" | "replace" = "refuse",
): Promise<void> {
  const data = JSON.stringify(record);
  const last = sql<number>`(select coalesce(max(place), 0) + 1 from records where kind = ${kind})`;
  for (let tries = 1; ; tries++) {
    try {
      await db
        .insertInto("records")
        .values({ kind, id: record.id, place: last, data })
        .onConflict((c) =>
          known === "replace"
            ? c.columns(["kind", "id"]).doUpdateSet({ data })
            : c.columns(["kind", "id"]).doNothing(),
        )
        .execute();
      break;
    } catch (e) {
      // another process took the place
      if (tries === 5 || (e as { code?: unknown } | undefined)?.code !== "23505") throw e;
    }
  }
  if (known === "replace") return;
  const { data: kept } = await db
    .selectFrom("records")
    .select("data")
    .where("kind", "=", kind)
    .where("id", "=", record.id)
    .executeTakeFirstOrThrow();
  if (kept === data) return;
  throw new WhetstoneError("store.refused", {
    where: `${kind} ${record.id}`,
    got: `another ${kind} than the one of that id`,
    expected: `an id that no ${kind} has yet`,
    mend: "Give it an id of its own: what was used is never changed.",
  });
}

/** The first made first. */
export async function readRecords<T>(db: Kysely<Tables>, kind: string): Promise<T[]> {
  const rows = await db
    .selectFrom("records")
    .select("data")
    .where("kind", "=", kind)
    .orderBy("place")
    .execute();
  return rows.map((row) => JSON.parse(row.data) as T);
}
