/** The main thread's side of the engine thread: one typed call per message type. */
import { Worker } from "node:worker_threads";
import { callerOver, errorFrom, type Host } from "./caller.ts";
import type { Device } from "./devices.ts";
import { type Gate, makeGate, shutGate, shutGateNow } from "./gate.ts";
import type { Precision } from "./precision.ts";
import type { Reply } from "./protocol.ts";
import { runtimeMissing } from "./runtime.ts";

/** Where and how the engine thread computes. */
export interface HostOptions {
  /** Threads within an operator. */
  readonly threads: number;
  readonly device: Device;
  readonly precision: Precision;
  /** Bytes for the activations of a micro-batch. */
  readonly memory: number;
  /** Of keys and values of earlier prompts, for each model. 0: none are kept. */
  readonly prefixBytes: number;
}

/** Options that the engine thread starts with. */
export interface ThreadOptions extends HostOptions {
  readonly gate: Gate;
}

/** The gates of all engine threads. They are shut on every process exit: a return, an error or `process.exit`. */
const gates = new Set<Gate>();
process.on("exit", () => gates.forEach(shutGateNow));

export function startHost(options: HostOptions): Host {
  // from source the worker is TypeScript too; in the published package both are JavaScript
  const file = import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.js";
  // a thread inherits the process's flags, but rejects this one of `node --input-type=module -e …`
  const flags = process.execArgv.some((flag) => flag.startsWith("--input-type")) ? { execArgv: [] } : {};
  const gate = makeGate();
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: { ...options, gate } satisfies ThreadOptions,
    ...flags,
  });
  gates.add(gate);
  let closing = false;
  const caller = callerOver((request) => {
    worker.ref();
    worker.postMessage(request);
  });
  const fail = (e: Error): void => {
    gates.delete(gate);
    caller.fail(e);
  };
  worker.on("message", (reply: Reply) => {
    caller.receive(reply);
    if (!caller.waits() && !closing) worker.unref();
  });
  worker.on("error", (e) => fail(runtimeMissing(e) ?? errorFrom({ message: e.message })));
  worker.on("exit", (code) =>
    fail(
      errorFrom({
        message: closing ? "an engine that was disposed of" : `the engine thread ended with code ${code}`,
      }),
    ),
  );
  worker.unref();
  return {
    get ended() {
      return caller.ended();
    },
    call: caller.call,
    watch: caller.watch,
    unwatch: caller.unwatch,
    async close() {
      if (caller.ended()) return;
      closing = true;
      worker.ref();
      await shutGate(gate);
      await worker.terminate();
    },
  };
}
