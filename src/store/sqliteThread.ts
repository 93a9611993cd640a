/** SQLite in a separate thread, as a dialect of Kysely, so that commits do not block the server. */
import { Worker } from "node:worker_threads";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { WhetstoneError } from "../core/errors.ts";
import type { Database } from "./database.ts";
import type { Rows } from "./rows.ts";
import type { Failure, Reply, Request } from "./sqliteWorker.ts";

export interface SqliteThread {
  readonly dialect: Dialect;
  /** In one transaction, by one message. */
  readonly write: NonNullable<Database["write"]>;
  /** Waits for running statements, then closes the file. */
  close(): Promise<void>;
}

/** @throws what `openDatabase` met, where the file cannot be opened. */
export async function sqliteThread(file: string): Promise<SqliteThread> {
  // run from source the worker is TypeScript too; in the published package both are JavaScript
  const module = import.meta.url.endsWith(".ts") ? "./sqliteWorker.ts" : "./sqliteWorker.js";
  // a thread takes over the process's flags, but refuses this one of `node --input-type=module -e …`
  const flags = process.execArgv.some((flag) => flag.startsWith("--input-type")) ? { execArgv: [] } : {};
  const worker = new Worker(new URL(module, import.meta.url), { workerData: { file }, ...flags });
  const open = new Map<number, { resolve(reply: Reply): void; reject(e: Error): void }>();
  let next = 1;
  let ended: Error | undefined;
  const end = (e: Error): void => {
    ended = e;
    for (const { reject } of open.values()) reject(e);
    open.clear();
  };
  worker.on("message", (reply: Reply) => {
    const waiting = open.get(reply.id);
    open.delete(reply.id);
    if (open.size === 0) worker.unref();
    waiting?.resolve(reply);
  });
  worker.on("error", end);
  worker.on("exit", (code) => end(new Error(`the store's thread ended with code ${code}`)));
  const opened = new Promise<Reply>((resolve, reject) => open.set(0, { resolve, reject })).then(unfailed);

  function ask(request: Asked): Promise<Answer> {
    if (ended) return Promise.reject(ended);
    return new Promise<Reply>((resolve, reject) => {
      const id = next++;
      open.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ ...request, id } satisfies Request);
    }).then(unfailed);
  }
  const turns = turnstile();

  try {
    await opened;
  } catch (e) {
    await worker.terminate();
    throw e;
  }
  return {
    dialect: {
      createDriver: () => oneConnection(ask, turns),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
    async write(secret, rows) {
      const done = await turns();
      try {
        const answer = await ask({ secret, rows });
        if (!("written" in answer)) throw new Error("the store's thread sent an unexpected reply");
        return answer.written;
      } finally {
        done();
      }
    },
    async close() {
      if (ended) return;
      const gone = new Promise((resolve) => worker.once("exit", resolve));
      worker.ref();
      worker.postMessage({ id: next++, sql: "close", parameters: [] } satisfies Request);
      await gone;
    },
  };
}

type Asked =
  | { readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly rows: Rows; readonly secret: Uint8Array };
type Answer = Exclude<Reply, { readonly error: Failure }>;

function unfailed(reply: Reply): Answer {
  if (!("error" in reply)) return reply;
  const { message, errcode, ours } = reply.error;
  if (ours) throw new WhetstoneError(ours.code, ours.parts);
  throw Object.assign(new Error(message), errcode !== undefined && { errcode });
}

/** A mutex, since SQLite has one writer. @returns acquires it, and resolves to the function that releases it. */
function turnstile(): () => Promise<() => void> {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    return resolve;
  };
}

function oneConnection(
  ask: (asked: Asked) => Promise<Answer>,
  turns: () => Promise<() => void>,
): ReturnType<Dialect["createDriver"]> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const answer = await ask({ sql, parameters });
      return { rows: "rows" in answer ? (answer.rows as R[]) : [] };
    },
    // biome-ignore lint/correctness/useYield: nothing of this room streams
    async *streamQuery() {
      throw new Error("rows are read in pages");
    },
  };
  const send = async (sql: string): Promise<void> => {
    await ask({ sql, parameters: [] });
  };
  let release = (): void => {};
  return {
    init: async () => {},
    async acquireConnection() {
      release = await turns();
      return connection;
    },
    releaseConnection: async () => release(),
    // all our transactions write: taken at once, the lock is waited for; taken later, it can be refused
    beginTransaction: () => send("begin immediate"),
    commitTransaction: () => send("commit"),
    rollbackTransaction: () => send("rollback"),
    destroy: async () => {},
  };
}
