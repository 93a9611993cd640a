/** The main thread's side of the engine thread: one typed call per message type. */
import { Worker } from "node:worker_threads";
import { type ErrorCode, type ErrorParts, errorCodes, WhetstoneError } from "../../core/errors.ts";
import type { Device } from "./devices.ts";
import { type Gate, makeGate, shutGate, shutGateNow } from "./gate.ts";
import type { Precision } from "./precision.ts";
import type { CallName, Calls, Reply, Request } from "./protocol.ts";
import { runtimeMissing } from "./runtime.ts";

export interface Host {
  call<K extends CallName>(name: K, ...args: Parameters<Calls[K]>): Promise<ReturnType<Calls[K]>>;
  /** A number to watch a call under, until `unwatch`. @param onToken called with each of its tokens. */
  watch(onToken: (request: number, token: number) => void): number;
  unwatch(watch: number): void;
  /** Whether the thread has ended: closed or failed. */
  readonly ended: boolean;
  /** Ends the thread after the native call in progress, if any; pending calls are rejected. */
  close(): Promise<void>;
}

function errorFrom({ code, parts, message, stack }: Extract<Reply, { error: unknown }>["error"]): Error {
  if (code !== undefined && code in errorCodes && parts) {
    return new WhetstoneError(code as ErrorCode, parts as ErrorParts);
  }
  const e = new WhetstoneError("engine.failed", {
    where: "local engine",
    got: message,
    expected: "the computation to run",
    fix: "Run again with --debug to see where it happened; if memory is short, use a smaller model or batch.",
  });
  if (stack) e.stack = stack;
  return e;
}

/** Where and how the engine thread computes. */
export interface HostOptions {
  /** Threads within an operator. */
  readonly threads: number;
  readonly device: Device;
  readonly precision: Precision;
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
  const open = new Map<number, { resolve: (value: never) => void; reject: (e: Error) => void }>();
  const watching = new Map<number, (request: number, token: number) => void>();
  let next = 1;
  let closing = false;
  let closed: Error | undefined;
  const fail = (e: Error): void => {
    closed ??= e;
    gates.delete(gate);
    for (const { reject } of open.values()) reject(e);
    open.clear();
  };
  worker.on("message", (reply: Reply) => {
    if ("watch" in reply) return watching.get(reply.watch)?.(reply.request, reply.token);
    const waiting = open.get(reply.id);
    open.delete(reply.id);
    if (open.size === 0 && !closing) worker.unref();
    if (!waiting) return;
    if ("error" in reply) waiting.reject(errorFrom(reply.error));
    else waiting.resolve(reply.value as never);
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
      return closed !== undefined;
    },
    call(name, ...args) {
      if (closed) return Promise.reject(closed);
      const id = next++;
      return new Promise((resolve, reject) => {
        open.set(id, { resolve, reject });
        worker.ref();
        const request: Request = { id, call: name, args };
        worker.postMessage(request);
      });
    },
    watch(onToken) {
      const watch = next++;
      watching.set(watch, onToken);
      return watch;
    },
    unwatch(watch) {
      watching.delete(watch);
    },
    async close() {
      if (closed) return;
      closing = true;
      worker.ref();
      await shutGate(gate);
      await worker.terminate();
    },
  };
}
