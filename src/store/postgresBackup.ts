/** Copies between a PostgreSQL store and a file: the file is a SQLite store, which either database can be restored from. */
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type Kysely, sql } from "kysely";
import { sqlite } from "../common/files/sqlite.ts";
import { WhetstoneError } from "../core/errors.ts";
import { connect } from "./connect.ts";
import {
  countRows,
  insertLists,
  insertRows,
  postgresRows,
  type Row,
  sqliteRows,
  tableNames,
} from "./copyRows.ts";
import { type Database, guardedBy } from "./database.ts";
import { requireOwnSchema } from "./ownSchema.ts";
import { postgresDatabase } from "./postgres.ts";
import type { Tables } from "./schema.ts";
import { requireUndamaged, storeFailure } from "./sqlite.ts";
import { requireVersion, stepsIn } from "./storeVersion.ts";

/** Share of the rows that are copied, in [0, 1]. */
type Copied = (share: number) => void;
type Counts = ReadonlyMap<string, number>;

/** Copies a store as it is at one moment, while it is in use, into a new one. @param file that is there and empty. */
export async function copyFromPostgres(url: string, file: string, copied: Copied): Promise<void> {
  const source = await postgresDatabase(url);
  try {
    await guardedBy(source)(async () => requireVersion(source.where, await stepsOf(source.db)));
    const target = await connect(file, "this thread");
    try {
      // each table would be of a moment of its own otherwise
      const moment = source.db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
      await guardedBy(source)(() =>
        moment.execute(async (from) => {
          const counts = new Map<string, number>();
          for (const table of tableNames) counts.set(table, await countRows(from, table));
          const last = await lastPlace(from);
          await guardedBy(target)(() =>
            target.db.transaction().execute(async (into) => {
              await copyAll(
                (table) => told(postgresRows(from, table), source),
                counts,
                into,
                insertRows,
                copied,
              );
              await sql`delete from sqlite_sequence where name = 'entries'`.execute(into);
              await sql`insert into sqlite_sequence values ('entries', ${last})`.execute(into);
            }),
          );
        }),
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Puts what a file holds in the place of what a store holds, in one transaction: interrupted, the store is as it was.
 * @param replace rows that are there go.
 */
export async function copyToPostgres(
  file: string,
  url: string,
  replace: boolean,
  copied: Copied,
): Promise<void> {
  const failure = (cause: unknown) => storeFailure(file, cause);
  const source = new (sqlite().DatabaseSync)(resolve(file), { readOnly: true });
  try {
    const { counts, last } = await guardedBy({ failure })(async () => {
      await requireOwnSchema(source, file);
      requireVersion(file, stepsIn(source));
      requireUndamaged(source, file);
      source.exec("begin");
      const place = source.prepare("select seq from sqlite_sequence where name = 'entries'").get();
      return { counts: countsIn(source), last: Number(place?.seq ?? 0) };
    });
    const target = await connect(url, "this thread");
    try {
      await guardedBy(target)(() =>
        target.db.transaction().execute(async (into) => {
          await emptied(into, target, replace);
          await copyAll(
            (table) => told(sqliteRows(source, table), { failure }),
            counts,
            into,
            insertLists,
            copied,
          );
          await sql`alter sequence entries_place_seq restart with ${sql.lit(last + 1)}`.execute(into);
        }),
      );
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

async function copyAll(
  rowsOf: (table: string) => AsyncIterable<readonly Row[]>,
  counts: Counts,
  into: Kysely<Tables>,
  insert: typeof insertRows,
  copied: Copied,
): Promise<void> {
  const all = [...counts.values()].reduce((sum, n) => sum + n, 0);
  let done = 0;
  for (const [table, count] of counts) {
    for await (const rows of rowsOf(table)) {
      await insert(into, table, rows);
      done += rows.length;
      copied(done / all);
    }
    const there = await countRows(into, table);
    if (there === count) continue;
    throw new WhetstoneError("store.failed", {
      where: `copy of the table ${table}`,
      got: `${there} rows`,
      expected: `${count}, as in the original`,
      fix: "Nothing was put there. Try again; if it comes back, please report it.",
    });
  }
}

/** Whose failure it is: what goes wrong while rows are read is not told by who writes them. */
async function* told(
  rows: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { failure }: Pick<Database, "failure">,
): AsyncGenerator<readonly Row[]> {
  try {
    yield* rows;
  } catch (e) {
    throw failure(e);
  }
}

/** Takes the store for itself and empties it. */
async function emptied(into: Kysely<Tables>, { where }: Database, replace: boolean): Promise<void> {
  const tables = sql.join(tableNames.map((name) => sql.table(name)));
  await sql`set local lock_timeout = '10s'`.execute(into);
  await sql`lock table ${tables} in access exclusive mode`.execute(into);
  for (const table of tableNames) {
    // whoever opens a store gives it a secret: the one of the copy comes in its place
    if (replace || table === "settings" || (await countRows(into, table)) === 0) continue;
    throw new WhetstoneError("option.range", {
      where,
      got: `a store that holds ${table.replaceAll("_", " ")}`,
      expected: "an empty store",
      fix: "Name another --store, or replace it with --replace once nothing uses it.",
    });
  }
  await sql`truncate ${tables}`.execute(into);
}

/** The steps by which the tables were made. */
async function stepsOf(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows: there } = await sql<{ is: boolean }>`
    select to_regclass('kysely_migration') is not null as is
  `.execute(db);
  if (there[0]?.is !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name);
}

/** The highest place that an entry has had. */
async function lastPlace(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ place: number | string }>`
    select case when is_called then last_value else 0 end as place from entries_place_seq
  `.execute(db);
  return Number(rows[0]?.place);
}

const countsIn = (database: DatabaseSync): Counts =>
  new Map(
    tableNames.map((table) => [
      table,
      Number(database.prepare(`select count(*) as n from ${table}`).get()?.n),
    ]),
  );
