/** Untrusted JavaScript: QuickJS in WebAssembly, in a worker thread of its own. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import type { Stopped } from "./outcome.ts";
import { pool } from "./pool.ts";

/** What a program may use. */
export interface JavaScriptLimits {
  /** Rounds of loops and calls of functions, in ten thousands: the same on every machine. Default 2,000,000. */
  readonly steps: number;
  /** Wall clock, for what takes long within one step; the thread is ended then. Default 5. */
  readonly seconds: number;
  /** Bytes on top of the 16 MiB that the runtime begins with, most of which a program has as well. Default 16 MiB. */
  readonly memory: number;
  /** Bytes of stack. Default 128 KiB. */
  readonly stack: number;
  /** Characters printed and characters of values, each. Default 10,000. */
  readonly output: number;
}

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
  /** Threads at once, started when they are needed. Default: one less than there are processors, 1 to 4. */
  readonly threads?: number;
}

/** Scripts that run one after another in one fresh world; the first that does not end well is the last. */
export interface JavaScriptProgram {
  readonly scripts: readonly string[];
  /** What `Math.random` starts from. Default 1. */
  readonly seed?: number;
}

/**
 * How a program ended. `values[i]` is what script i came to, written as a literal with sorted keys (`[1, "a", {"b": 2}]`);
 * a promise is waited for. Values and output of a program that had to be ended with its thread are lost.
 */
export type JavaScriptOutcome = ({ readonly kind: "ok" } | Stopped) & {
  readonly values: readonly string[];
  /** What `console.log` said, a line for each call. */
  readonly printed: string;
};

/** What a thread answers. */
export interface JavaScriptReply {
  readonly outcome: JavaScriptOutcome;
  readonly spoiled: boolean;
}

export interface JavaScriptSandbox {
  /** Never rejects: whatever the program does is an outcome. */
  run(program: JavaScriptProgram): Promise<JavaScriptOutcome>;
  /** Ends the threads. Without it they end with the process, which they do not keep alive. */
  close(): void;
}

const file = import.meta.url.endsWith(".ts") ? "./javascriptWorker.ts" : "./javascriptWorker.js";

/**
 * A sandbox for small programs. Nothing carries over from one program to the next. There is no file, process, network,
 * timer or clock inside: no `Date`, and `Math.random` is seeded, so that equal programs come to equal outcomes, as long
 * as they stay within `seconds`.
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
        // what WebAssembly says when it falls over comes with the outcome
        stderr: true,
        // WebAssembly recurses on the thread's own stack: it has to last longer than the program's
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
