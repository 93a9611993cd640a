/** The rows of all tables, out of one database and into another. */
import type { DatabaseSync } from "node:sqlite";
import { type Kysely, sql } from "kysely";
import { columnsOf } from "./postgres.ts";
import { portions } from "./readTraffic.ts";
import type { Tables } from "./schema.ts";

/** Every table; whatever a row refers to stands in an earlier one. */
const all: Readonly<Record<keyof Tables, true>> = {
  runs: true,
  run_tags: true,
  metrics: true,
  trajectories: true,
  task_episodes: true,
  task_words: true,
  evaluations: true,
  responses: true,
  signals: true,
  signal_targets: true,
  traced_calls: true,
  records: true,
  erased: true,
  settings: true,
  entries: true,
};
export const tableNames: readonly string[] = Object.keys(all);

export type Row = Readonly<Record<string, unknown>>;

/** Most rows that are written by one statement, and most bytes that are in memory; a single row may hold more. */
const [mostRows, mostBytes] = [500, 4e6];
/** Places that are looked up at once. */
const placesRead = 1000;

/** @param tx a transaction that sees one moment: a row stays in its place while it lasts. */
export async function* postgresRows(tx: Kysely<Tables>, table: string): AsyncGenerator<readonly Row[]> {
  const sized = (await columnsOf(tx, table)).filter(({ type }) => type === "text" || type === "bytea");
  const sizes = sized.map(({ name }) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`);
  await sql`
    declare places no scroll cursor for
    select ctid::text as id, ${sql.join([sql`0`, ...sizes], sql` + `)} as bytes from ${sql.table(table)}
  `.execute(tx);
  const next = sql<{ id: string; bytes: number }>`fetch ${sql.lit(placesRead)} from places`;
  for (;;) {
    const { rows: places } = await next.execute(tx);
    if (places.length === 0) break;
    for (const ids of portions(places)) {
      const read = sql<Row>`select * from ${sql.table(table)} where ctid = any(${ids}::tid[])`;
      yield (await read.execute(tx)).rows;
    }
  }
  await sql`close places`.execute(tx);
}

export function* sqliteRows(database: DatabaseSync, table: string): Generator<readonly Row[]> {
  let [rows, held]: [Row[], number] = [[], 0];
  for (const row of database.prepare(`select * from ${table}`).iterate()) {
    rows.push(row);
    // what an object takes beside its values
    held += 100;
    for (const value of Object.values(row))
      held += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
    if (held < mostBytes) continue;
    yield rows;
    [rows, held] = [[], 0];
  }
  if (rows.length > 0) yield rows;
}

export async function insertRows(tx: Kysely<Tables>, table: string, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += mostRows) {
    const part = rows.slice(at, at + mostRows);
    const columns = Object.keys(part[0]!);
    const values = part.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
    await sql`
      insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      values ${sql.join(values)}
    `.execute(tx);
  }
}

/** The same into PostgreSQL, which plans a statement of a few lists sooner than one of thousands of values. */
export async function insertLists(tx: Kysely<Tables>, table: string, rows: readonly Row[]): Promise<void> {
  const columns = await columnsOf(tx, table);
  const lists = columns.map(
    ({ name, type }) => sql`${rows.map((row) => asStored(row[name]))}::${sql.raw(type)}[]`,
  );
  await sql`
    insert into ${sql.table(table)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
    select * from unnest(${sql.join(lists)})
  `.execute(tx);
}

/** In a list, the driver writes bytes only where they are a Buffer. */
const asStored = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

export async function countRows(tx: Kysely<Tables>, table: string): Promise<number> {
  const { rows } = await sql<{ n: number | string }>`select count(*) as n from ${sql.table(table)}`.execute(
    tx,
  );
  return Number(rows[0]?.n);
}
