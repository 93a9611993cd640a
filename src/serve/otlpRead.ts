/** Spans out of the body of a request: long ones in a thread of their own, since texts within them are JSON again. */
import { Worker } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import { type ReadSpans, readSpans } from "../exchange/otlp/otlp.ts";
import { type BodyLimits, long, parseJson, type Unread } from "../http/body.ts";
import { pool } from "../sandbox/pool.ts";
import type { Refused } from "./refusal.ts";

export const tracesBody: BodyLimits = { bytes: 20 * 2 ** 20, depth: 64, values: 500_000, names: 10_000 };
/** Seconds for one request. */
const longest = 20;

export interface ReadRequest {
  readonly bytes: Uint8Array;
  /** Milliseconds since 1970. */
  readonly received: number;
}
type Read = ReadSpans | Unread | "no spans";

export function readSpanBytes({ bytes, received }: ReadRequest): Read {
  const parsed = parseJson(bytes, tracesBody);
  return "status" in parsed ? parsed : (readSpans(parsed.json, received) ?? "no spans");
}

/** The thread is started by the first long request, and keeps no process alive. */
export function spanReader(): (request: ReadRequest) => Promise<ReadSpans | Refused> {
  // run from source the worker is TypeScript too; in the published package both are JavaScript
  const file = import.meta.url.endsWith(".ts") ? "./otlpWorker.ts" : "./otlpWorker.js";
  const threads = pool<ReadRequest, Read>({
    size: 1,
    seconds: longest,
    open: ({ ready, reply, died }) => {
      const worker = new Worker(new URL(file, import.meta.url), { execArgv: [] });
      worker.unref();
      worker.on("message", (told: Read | "ready") => (told === "ready" ? ready() : reply(told, false)));
      worker.on("error", (e) => died(messageOf(e)));
      worker.on("exit", (code) => died(`the thread ended with ${code}`));
      return {
        send: (request) => worker.postMessage(request),
        kill: () => void worker.terminate(),
        hold: (busy) => (busy ? worker.ref() : worker.unref()),
      };
    },
  });
  return async (request) => {
    const read = request.bytes.length <= long ? readSpanBytes(request) : await threads.run(request);
    if (read === "no spans") return noSpans;
    return "lost" in read ? tooLong : read;
  };
}

const noSpans: Refused = {
  status: 400,
  code: "invalid_spans",
  message:
    "got JSON without resourceSpans, expected OTLP's ExportTraceServiceRequest. Send logs and metrics elsewhere.",
};
const tooLong: Refused = {
  status: 413,
  code: "too_long_to_read",
  message: `the spans were not read within ${longest} s. Send fewer at a time.`,
};
