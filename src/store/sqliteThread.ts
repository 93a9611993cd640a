/** SQLite in a thread of its own, as a dialect of Kysely: no commit holds up what this thread serves. */
import { Worker } from "node:worker_threads";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Failure, Reply, Request } from "./sqliteWorker.ts";

export interface SqliteThread {
  readonly dialect: Dialect;
  /** Lets what was begun end, then closes the file. */
  close(): Promise<void>;
}

/** @throws what `openDatabase` met, where the file cannot be opened. */
export async function sqliteThread(file: string): Promise<SqliteThread> {
  // run from source the worker is TypeScript too; in the published package both are JavaScript
  const module = import.meta.url.endsWith(".ts") ? "./sqliteWorker.ts" : "./sqliteWorker.js";
  // a thread takes over the process's flags, but refuses this one of `node --input-type=module -e …`
  const flags = process.execArgv.some((flag) => flag.startsWith("--input-type")) ? { execArgv: [] } : {};
  const worker = new Worker(new URL(module, import.meta.url), { workerData: { file }, ...flags });
  const open = new Map<number, { resolve(rows: readonly unknown[]): void; reject(e: Error): void }>();
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
    if ("error" in reply) waiting?.reject(errorOf(reply.error));
    else waiting?.resolve(reply.rows);
  });
  worker.on("error", end);
  worker.on("exit", (code) => end(new Error(`the store's thread ended with code ${code}`)));
  const opened = new Promise<readonly unknown[]>((resolve, reject) => open.set(0, { resolve, reject }));

  function run({ sql, parameters }: Pick<CompiledQuery, "sql" | "parameters">): Promise<readonly unknown[]> {
    if (ended) return Promise.reject(ended);
    return new Promise((resolve, reject) => {
      const id = next++;
      open.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, sql, parameters } satisfies Request);
    });
  }

  try {
    await opened;
  } catch (e) {
    await worker.terminate();
    throw e;
  }
  return {
    dialect: {
      createDriver: () => oneConnection(run),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
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

function errorOf({ message, errcode }: Failure): Error {
  return Object.assign(new Error(message), errcode !== undefined && { errcode });
}

/** Transactions one after the other: SQLite has one writer. */
function oneConnection(
  run: (query: CompiledQuery) => Promise<readonly unknown[]>,
): ReturnType<Dialect["createDriver"]> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: (await run(query)) as R[],
    }),
    // biome-ignore lint/correctness/useYield: nothing of this room streams
    async *streamQuery() {
      throw new Error("rows are read in pages");
    },
  };
  const send = async (sql: string): Promise<void> => {
    await run(CompiledQuery.raw(sql));
  };
  let last: Promise<void> = Promise.resolve();
  let release = (): void => {};
  return {
    init: async () => {},
    async acquireConnection() {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      release = resolve;
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
