/** Sandbox for untrusted JavaScript: QuickJS in WebAssembly, in a separate worker thread. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import type { Stopped } from "./outcome.ts";
import { pool } from "./pool.ts";

/** Resource limits of a program. */
export interface JavaScriptLimits {
  /** Largest number of loop iterations and function calls, checked every ten thousand; the same on every machine. Default 2,000,000. */
  readonly steps: number;
  /** Wall-clock limit in seconds, for operations that take long within one step; it terminates the thread. Default 5. */
  readonly seconds: number;
  /** Bytes beyond the runtime's initial 16 MiB, most of which a program can use too. Default 16 MiB. */
  readonly memory: number;
  /** Bytes of stack. Default 128 KiB. */
  readonly stack: number;
  /** Largest number of printed characters, and of characters of values. Default 10,000. */
  readonly output: number;
}

/** Default limits of a program. */
export const javaScriptLimits: JavaScriptLimits = {
  steps: 2_000_000,
  seconds: 5,
  memory: 16 * 2 ** 20,
  stack: 128 * 2 ** 10,
  output: 10_000,
};

/** Settings of {@link javaScriptSandbox}. */
export interface JavaScriptOptions {
  readonly limits?: Partial<JavaScriptLimits>;
  /** Largest number of threads, started on demand. Default: number of processors − 1, from 1 to 4. */
  readonly threads?: number;
}

/** Scripts that run one after another in one fresh runtime, up to the first that fails. */
export interface JavaScriptProgram {
  readonly scripts: readonly string[];
  /** Seed of `Math.random`. Default 1. */
  readonly seed?: number;
}

/**
 * Outcome of a program. `values[i]` is the value of script i, as a literal with sorted keys (`[1, "a", {"b": 2}]`); promises
 * are awaited. Values and output are lost where the thread had to be terminated.
 */
export type JavaScriptOutcome = ({ readonly kind: "ok" } | Stopped) & {
  readonly values: readonly string[];
  /** Output of `console.log`, one line per call. */
  readonly printed: string;
};

/** Reply of a thread. */
export interface JavaScriptReply {
  readonly outcome: JavaScriptOutcome;
  readonly spoiled: boolean;
}

/** Runs untrusted programs apart from this thread. See {@link javaScriptSandbox}. */
export interface JavaScriptSandbox {
  /** Never rejects: every failure of the program is an outcome. */
  run(program: JavaScriptProgram): Promise<JavaScriptOutcome>;
  /** Terminates the threads. Without it they end with the process; they do not keep it alive. */
  close(): void;
}

const file = import.meta.url.endsWith(".ts") ? "./javascriptWorker.ts" : "./javascriptWorker.js";

/**
 * A sandbox for small programs. Programs share no state. They have no access to files, processes, network, timers or clocks:
 * there is no `Date`, and `Math.random` is seeded, so that equal programs have equal outcomes as long as they stay within
 * `seconds`.
 */
export function javaScriptSandbox(options: JavaScriptOptions = {}): JavaScriptSandbox {
  const { threads = Math.min(4, Math.max(1, availableParallelism() - 1)) } = options;
  const limits = { ...javaScriptLimits, ...options.limits };
  const cells = pool<JavaScriptProgram, JavaScriptOutcome>({
    size: threads,
    seconds: limits.seconds,
    open: ({ ready, reply, died }) => {
      const worker = new Worker(new URL(file, import.meta.url), {
        workerData: limits,
        env: {},
        execArgv: [],
        // the outcome reports WebAssembly's crash message
        stderr: true,
        // WebAssembly recurses on the thread's own stack, which must be larger than the program's
        resourceLimits: { stackSizeMb: 8, maxOldGenerationSizeMb: 128 },
      });
      worker.on("message", (told: JavaScriptReply | "ready") => {
        if (told === "ready") ready();
        else reply(told.outcome, told.spoiled);
      });
      worker.on("error", (e) => died(messageOf(e)));
      worker.on("exit", (code) => died(`the thread ended with ${code}`));
      return {
        send: (program) => worker.postMessage(program),
        kill: () => void worker.terminate(),
        hold: (busy) => (busy ? worker.ref() : worker.unref()),
      };
    },
  });
  return {
    async run(program) {
      const told = await cells.run(program);
      if (!("lost" in told)) return told;
      const nothing = { values: [], printed: "" };
      return told.lost === "late"
        ? { kind: "timeout", limit: "seconds", at: limits.seconds, ...nothing }
        : { kind: "crashed", message: told.message, ...nothing };
    },
    close: cells.close,
  };
}
