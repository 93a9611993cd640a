/** Untrusted SQL: SQLite in memory, in a process of its own. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sqlite } from "../common/files/sqlite.ts";
import type { Cell } from "../common/text/tables.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Stopped } from "./outcome.ts";
import { pool } from "./pool.ts";

/** What a statement may use. */
export interface SqlLimits {
  /** Wall clock: SQLite cannot be asked to stop, so its process is killed. Default 2. */
  readonly seconds: number;
  /** Bytes by which its process may grow, looked at fifty times a second. Default 64 MiB. */
  readonly memory: number;
  /** Rows handed back. Default 1,000. */
  readonly rows: number;
  /** Characters of all cells handed back, and of any one text on the way. Default 100,000. */
  readonly characters: number;
}

export const sqlLimits: SqlLimits = { seconds: 2, memory: 64 * 2 ** 20, rows: 1000, characters: 100_000 };

/** Settings of {@link sqlSandbox}. */
export interface SqlOptions {
  /** Trusted SQL that makes the tables, run once in each process. */
  readonly setup: string;
  readonly limits?: Partial<SqlLimits>;
  /** Processes at once, started when they are needed. Default 1. */
  readonly processes?: number;
}

/** What came of a statement; blobs are written as `x'…'`. */
export type SqlOutcome =
  | { readonly kind: "ok"; readonly columns: readonly string[]; readonly rows: readonly (readonly Cell[])[] }
  | Stopped;

export interface SqlSandbox {
  /** Never rejects: whatever the statement does is an outcome. */
  run(sql: string): Promise<SqlOutcome>;
  /** Ends the processes. Without it they end with this one, which they do not keep alive. */
  close(): void;
}

/** What a process is told first. */
export interface SqlStart {
  readonly setup: string;
  readonly limits: SqlLimits;
}

/** Said of a process that ended itself by SIGTERM, as sql-watch.ts does. */
const tooLarge = "too large";

const file = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./sqlProcess.ts" : "./sqlProcess.js", import.meta.url),
);

/**
 * One SELECT at a time over tables that nothing can change. Whatever else SQL can do is refused when it is compiled:
 * writing, ATTACH, PRAGMA, VACUUM INTO, functions that are not on a list. There is no clock and no chance, so that equal
 * statements over equal tables come to equal outcomes, as long as they stay within `seconds`.
 * @throws WhetstoneError `capability.missing` where this Node cannot refuse.
 */
export function sqlSandbox(options: SqlOptions): SqlSandbox {
  if (!("setAuthorizer" in sqlite().DatabaseSync.prototype)) {
    throw new WhetstoneError("capability.missing", {
      where: "sqlSandbox",
      got: `Node ${process.versions.node}, whose node:sqlite has no setAuthorizer`,
      expected: "Node 24.10 or newer",
      mend: "Install a current Node from https://nodejs.org.",
    });
  }
  const { setup, processes = 1 } = options;
  const limits = { ...sqlLimits, ...options.limits };
  const cells = pool<string, SqlOutcome>({
    size: processes,
    seconds: limits.seconds,
    open: ({ ready, reply, died }) => {
      const child = fork(file, [], {
        env: {},
        serialization: "advanced",
        execArgv: ["--disable-warning=ExperimentalWarning"],
        stdio: ["ignore", "ignore", "ignore", "ipc"],
      });
      child.on("message", (told: SqlOutcome | "ready") => {
        if (told === "ready") ready();
        else reply(told, false);
      });
      child.on("error", (e) => died(e.message));
      child.on("exit", (code, signal) =>
        died(signal === "SIGTERM" ? tooLarge : `the process ended with ${code ?? signal}`),
      );
      const start: SqlStart = { setup, limits };
      child.send(start);
      return {
        send: (sql) => void child.send(sql),
        kill: () => void child.kill("SIGKILL"),
        hold: (busy) => {
          if (busy) child.ref();
          else child.unref();
          if (busy) child.channel?.ref();
          else child.channel?.unref();
        },
      };
    },
  });
  const end = (): void => cells.close();
  process.once("exit", end);
  return {
    async run(sql) {
      const told = await cells.run(sql);
      if (!("lost" in told)) return told;
      if (told.lost === "late") return { kind: "timeout", limit: "seconds", at: limits.seconds };
      return told.message === tooLarge
        ? { kind: "memory", bytes: limits.memory }
        : { kind: "crashed", message: told.message };
    },
    close() {
      process.off("exit", end);
      end();
    },
  };
}
