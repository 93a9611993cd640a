/** Reads spans from a request body; long bodies are read in a worker thread, since their texts contain JSON that is parsed again. */
import { type ReadSpans, readSpans } from "../exchange/otlp/otlp.ts";
import { requestFrom } from "../exchange/otlp/protobuf.ts";
import { type BodyLimits, long, parseJson, type Unread } from "../http/body.ts";
import { oneThread } from "../sandbox/thread.ts";
import type { Refused } from "./refusal.ts";

export const tracesBody: BodyLimits = { bytes: 20 * 2 ** 20, depth: 64, values: 500_000, names: 10_000 };
/** Seconds allowed for one request. */
const longest = 20;

/** How a request is encoded. */
export type Form = "json" | "protobuf";

export interface ReadRequest {
  readonly bytes: Uint8Array;
  readonly form: Form;
  /** Milliseconds since 1970. */
  readonly received: number;
}
type Read = ReadSpans | Unread | "no spans";

export function readSpanBytes({ bytes, form, received }: ReadRequest): Read {
  if (form === "protobuf") {
    const decoded = requestFrom(bytes, tracesBody);
    if (decoded === "beyond") return tooMany;
    return decoded === undefined
      ? notProtobuf
      : (readSpans({ resourceSpans: [], ...decoded }, received) ?? "no spans");
  }
  const parsed = parseJson(bytes, tracesBody);
  return "status" in parsed ? parsed : (readSpans(parsed.json, received) ?? "no spans");
}

/** The first long request starts the thread; the thread does not keep the process alive. */
export function spanReader(): (request: ReadRequest) => Promise<ReadSpans | Refused> {
  const thread = oneThread<ReadRequest, Read>(import.meta.url, "otlpWorker", { seconds: longest });
  return async (request) => {
    const read = request.bytes.length <= long ? readSpanBytes(request) : await thread.run(request);
    if (read === "no spans") return noSpans;
    return "lost" in read ? tooLong : read;
  };
}

const tooMany: Unread = {
  status: 413,
  code: "body_too_large",
  message: `the spans hold more than ${tracesBody.values} values, or ${tracesBody.depth} levels of nesting. Send fewer at a time.`,
};
const notProtobuf: Unread = {
  status: 400,
  code: "invalid_protobuf",
  message:
    "the body is not an ExportTraceServiceRequest in protobuf. Send JSON with content-type application/json, or protobuf as OTLP defines it.",
};
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
