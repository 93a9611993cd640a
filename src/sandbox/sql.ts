/** Sandbox for untrusted SQL: in-memory SQLite in a separate process. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sqlite } from "../common/files/sqlite.ts";
import type { Cell } from "../common/text/tables.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Stopped } from "./outcome.ts";
import { pool } from "./pool.ts";

/** Resource limits of a statement. */
export interface SqlLimits {
  /** Wall-clock limit in seconds. SQLite cannot be interrupted here, so its process is killed. Default 2. */
  readonly seconds: number;
  /** Largest growth of its process in bytes, checked fifty times a second. Default 64 MiB. */
  readonly memory: number;
  /** Largest number of returned rows. Default 1,000. */
  readonly rows: number;
  /** Largest number of characters of all returned cells, and of any single intermediate text. Default 100,000. */
  readonly characters: number;
}

/** Default limits of a statement. */
export const sqlLimits: SqlLimits = { seconds: 2, memory: 64 * 2 ** 20, rows: 1000, characters: 100_000 };

/** Settings of {@link sqlSandbox}. */
export interface SqlOptions {
  /** Trusted SQL that creates the tables; it runs once in each process. */
  readonly setup: string;
  readonly limits?: Partial<SqlLimits>;
  /** Largest number of processes, started on demand. Default 1. */
  readonly processes?: number;
}

/** Outcome of a statement; blobs are written as `x'…'`. */
export type SqlOutcome =
  | { readonly kind: "ok"; readonly columns: readonly string[]; readonly rows: readonly (readonly Cell[])[] }
  | Stopped;

/** Runs untrusted SELECT statements apart from this process. See {@link sqlSandbox}. */
export interface SqlSandbox {
  /** Never rejects: every failure of the statement is an outcome. */
  run(sql: string): Promise<SqlOutcome>;
  /** Terminates the processes. Without it they end with this process; they do not keep it alive. */
  close(): void;
}

/** First message to a process. */
export interface SqlStart {
  readonly setup: string;
  readonly limits: SqlLimits;
}

/** Message for a process that ended itself by SIGTERM, as sqlWatch.ts does. */
const tooLarge = "too large";

const file = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./sqlProcess.ts" : "./sqlProcess.js", import.meta.url),
);

/**
 * One SELECT at a time over read-only tables. Everything else is refused when the statement is compiled: writes, ATTACH,
 * PRAGMA, VACUUM INTO, functions outside an allow-list. There is no clock and no randomness, so equal statements over equal
 * tables have equal outcomes as long as they stay within `seconds`.
 * @throws WhetstoneError `capability.missing` where this Node version has no SQLite authorizer.
 */
export function sqlSandbox(options: SqlOptions): SqlSandbox {
  if (!("setAuthorizer" in sqlite().DatabaseSync.prototype)) {
    throw new WhetstoneError("capability.missing", {
      where: "sqlSandbox",
      got: `Node ${process.versions.node}, whose node:sqlite has no setAuthorizer`,
      expected: "Node 24.10 or newer",
      fix: "Install a current Node from https://nodejs.org.",
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
