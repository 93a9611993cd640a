/** PostgreSQL behind a connection URL, and its errors as WhetstoneErrors. */
import { setTimeout as pause } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./schema.ts";
import { shownUrl } from "./where.ts";

/** Opens a pool that connects on demand, with up to 8 connections. */
export async function postgresDatabase(url: string): Promise<Database> {
  // imported lazily, so that SQLite users do not load it
  const { Pool } = (await import("pg")).default;
  const where = shownUrl(url);
  const pool = new Pool({ connectionString: url, max: 8, connectionTimeoutMillis: 10_000 });
  // a connection may break while idle: the next statement reports it, and the pool opens another
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool,
      async onCreateConnection(connection) {
        // a server that acknowledges commits before they are on disk would break the durability guarantee; stronger settings
        // stay. Compiling takes seconds for queries that run for milliseconds.
        const {
          sql: text,
          parameters,
          query,
          queryId,
        } = sql`
          select set_config('jit', 'off', false), case
            when current_setting('synchronous_commit') in ('off', 'local')
            then set_config('synchronous_commit', 'on', false)
          end
        `.compile(db);
        await connection.executeQuery({ sql: text, parameters, query, queryId });
      },
    }),
  });
  return {
    kind: "postgres",
    where,
    db,
    contents: () => fileContents(db),
    scrub: () => scrub(db),
    unseen: [
      "the server's write-ahead log until its segments are overwritten, and archives and replicas of it",
      "backups",
    ],
    failure: (cause) => postgresFailure(where, cause),
    close: () => db.destroy(),
  };
}

/** Tables with users' data. */
const tables = [
  "responses",
  "signals",
  "signal_targets",
  "records",
  "entries",
  "traced_calls",
] as const satisfies readonly (keyof Tables)[];

/** How long to wait for transactions that still see deleted rows, in milliseconds. */
const patience = { most: 10_000, pause: 20 } as const;

/**
 * Waits for older transactions, since rows that they may see survive a vacuum. Ends when there are none, or after `patience`:
 * the receipt then counts what remained. A role sees its own transactions only.
 */
async function unread(db: Kysely<Tables>): Promise<void> {
  const { rows: now } = await sql<{ xid: string }>`select pg_current_xact_id()::xid::text as xid`.execute(db);
  const older = sql<{ older: boolean }>`
    select count(*) > 0 as older from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and age(backend_xmin) > age(${now[0]?.xid}::text::xid)
  `;
  for (
    const began = performance.now();
    performance.now() - began < patience.most;
    await pause(patience.pause)
  ) {
    const { rows } = await older.execute(db);
    if (rows[0]?.older !== true) return;
  }
}

/**
 * The planner's statistics hold common values as they are, and of a table that has become empty they stay. They go with a change of
 * the column's type, here to what it is.
 */
async function forgetStatistics(db: Kysely<Tables>, table: string): Promise<void> {
  const changes = (await columnsOf(db, table)).map(
    ({ name, type }) => sql`alter column ${sql.ref(name)} type ${sql.raw(type)}`,
  );
  await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db).catch(unlessDenied);
}

/** Columns of a table with their types, as SQL writes them. */
export async function columnsOf(
  db: Kysely<Tables>,
  table: string,
): Promise<readonly { readonly name: string; readonly type: string }[]> {
  const { rows } = await sql<{ name: string; type: string }>`
    select column_name as name, data_type as type from information_schema.columns
    where table_schema = current_schema() and table_name = ${table}
  `.execute(db);
  return rows;
}

async function scrub(db: Kysely<Tables>): Promise<readonly string[]> {
  await unread(db);
  for (const table of tables) {
    await forgetStatistics(db, table);
    await sql`vacuum full ${sql.table(table)}`.execute(db);
    await sql`analyze ${sql.table(table)}`.execute(db);
  }
  // rewrites what the statistics were; without the permission, the server skips it
  await sql`vacuum full pg_catalog.pg_statistic`.execute(db);
  // flushes the rewritten files; without the permission, the server's next automatic checkpoint does it
  await sql`checkpoint`.execute(db).catch(unlessDenied);
  return [
    ...((await owns(db))
      ? []
      : [
          "deleted rows in the files of the tables, and their statistics: this role does not own them; let their owner run VACUUM FULL and ANALYZE",
        ]),
    ...((await mayRead(db)) ? [] : ["the tables' files, which this role may not read"]),
  ];
}

async function owns(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ all: boolean | null }>`
    select bool_and(pg_has_role(relowner, 'usage')) as all from pg_class
    where relname in (${sql.join(tables)}) and relnamespace = current_schema()::regnamespace
  `.execute(db);
  return rows[0]?.all === true;
}

async function mayRead(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select has_function_privilege('pg_read_binary_file(text, bigint, bigint, boolean)', 'execute') as may
  `.execute(db);
  return rows[0]?.may === true;
}

const denied = "42501";
/** A role may lack the permission: the server skips a vacuum then, and refuses the rest. */
function unlessDenied(e: unknown): void {
  if (stateOf(e) !== denied) throw e;
}
const notText = "22021";
const block = 1 << 20;

/** The bytes of the tables' files, with indexes and TOAST data, if this role may read them. */
async function* fileContents(db: Kysely<Tables>): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const { rows } = await sql<{ path: string }>`
    with main as (
      select oid, reltoastrelid from pg_class
      where relname in (${sql.join(tables)}) and relnamespace = current_schema()::regnamespace
    ), stored as (
      select oid from main union select reltoastrelid from main where reltoastrelid <> 0
    )
    select pg_relation_filepath(o) as path from (
      select oid as o from stored
      union select indexrelid from pg_index where indrelid in (select oid from stored)
    ) as files
  `.execute(db);
  if (!(await mayRead(db))) return;
  for (const { path } of rows) yield blocksOf(db, path);
}

async function* blocksOf(db: Kysely<Tables>, path: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; at += block) {
    const { rows } = await sql<{ bytes: Uint8Array | null }>`
      select pg_read_binary_file(${path}, ${at}, ${block}, true) as bytes
    `.execute(db);
    const bytes = rows[0]?.bytes ?? new Uint8Array(0);
    if (bytes.length > 0) yield bytes;
    if (bytes.length < block) return;
  }
}

function stateOf(e: unknown): string {
  const { code } = (e ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Error texts by SQLSTATE, its two-character class, or the system's error code; https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const reasons: Readonly<Record<string, readonly [got: string, expected: string, fix: string]>> = {
  "53100": [
    "a full disk",
    "room to write",
    "Free some space on the server, then send the refused data again.",
  ],
  "53300": [
    "too many connections",
    "a free connection",
    "Close other connections, or raise the server's max_connections.",
  ],
  "28": ["a refused login", "a role and password that may log in", "Correct user and password in the URL."],
  "3D": [
    "a database that does not exist",
    "an existing database",
    "Create it (createdb), or correct the URL.",
  ],
  [denied]: [
    "a role without the permission",
    "a role that owns the tables",
    "Grant the permission, or name another role in the URL.",
  ],
  "55P03": [
    "a store that is in use",
    "a store that nothing uses",
    "Stop everything that uses it, and try again.",
  ],
  "57P": ["a server that is shutting down or starting", "a running server", "Try again in a moment."],
  "08": ["a connection that broke", "a stable connection", "Try again; check the server and the network."],
  ECONNREFUSED: [
    "no server at that address",
    "PostgreSQL",
    "Start the server, or correct host and port in the URL.",
  ],
  ENOTFOUND: ["an unknown host", "a known host", "Correct the host in the URL."],
  ECONNRESET: [
    "a connection that broke",
    "a stable connection",
    "Try again; check the server and the network.",
  ],
};

/** Converts any error of the database to a WhetstoneError, without the password. */
export function postgresFailure(where: string, cause: unknown): WhetstoneError {
  if (cause instanceof WhetstoneError) return cause;
  const state = stateOf(cause);
  if (state === notText)
    // an error of this text, not of the server: the same request without the character succeeds
    return new WhetstoneError("store.refused", {
      where: "a name or text",
      got: "a NUL character",
      expected: "text without NUL characters",
      fix: "Remove that character.",
      cause,
    });
  const known = reasons[state] ?? reasons[state.slice(0, 3)] ?? reasons[state.slice(0, 2)];
  const [got, expected, fix] = known ?? [
    `the failure "${messageOf(cause)}"`,
    "PostgreSQL to work",
    "Check the server's log, and the URL.",
  ];
  const code = state === "53100" ? "store.full" : "store.failed";
  return new WhetstoneError(code, { where: `store ${where}`, got, expected, fix, cause });
}
