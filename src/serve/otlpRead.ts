/** Reads spans from a request body; long bodies are read in a worker thread, since their texts contain JSON that is parsed again. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type ReadSpans, readSpans } from "../exchange/otlp/otlp.ts";
import { requestFrom } from "../exchange/otlp/protobuf.ts";
import { type BodyLimits, long, parseJson, type Unread } from "../http/body.ts";
import { oneThread } from "../sandbox/thread.ts";
import { places } from "./places.ts";
import { isRefused, type Refused } from "./refusal.ts";

export const tracesBody: BodyLimits = { bytes: 20 * 2 ** 20, depth: 64, values: 500_000, names: 10_000 };
/** Seconds allowed for one request. */
const longest = 20;

/** How a request is encoded. */
export type Form = "json" | "protobuf";

export type Packing = "plain" | "gzip";

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

/** A request as it came. */
export interface PackedRequest extends ReadRequest {
  readonly packing: Packing;
}
/** Requests that are unpacked and read at once, and bytes of those that wait: what is small as it comes may be a thousand times as long. */
const [atOnce, mostWaiting] = [2, 128 * 2 ** 20];

/**
 * The first long request starts the thread; the thread does not keep the process alive.
 * @param gone gives up a request that waits. @param who sends it: those who send take turns.
 */
export function spanReader(): (
  request: PackedRequest,
  gone: AbortSignal,
  who?: string,
) => Promise<ReadSpans | Refused> {
  const thread = oneThread<ReadRequest, Read>(import.meta.url, "otlpWorker", { seconds: longest });
  const turns = places({ atOnce, waiting: 1000 });
  let waiting = 0;

  async function readOne({ packing, ...request }: PackedRequest): Promise<ReadSpans | Refused> {
    const unpacked =
      packing === "gzip" && request.bytes.length > 0 ? await gunzipped(request.bytes) : request.bytes;
    if (isRefused(unpacked)) return unpacked;
    const plain = { ...request, bytes: unpacked };
    const read = plain.bytes.length <= long ? readSpanBytes(plain) : await thread.run(plain);
    if (read === "no spans") return noSpans;
    return "lost" in read ? tooLong : read;
  }

  return async (request, gone, who) => {
    const { length } = request.bytes;
    if (request.packing === "plain" && length <= long) return await readOne(request);
    if (waiting + length > mostWaiting) return busy;
    waiting += length;
    try {
      const place = await turns.take(1, gone, who);
      if (place === "full" || place === "gone") return busy;
      try {
        return await readOne(request);
      } finally {
        place.leave();
      }
    } finally {
      waiting -= length;
    }
  };
}

/** The bytes unpacked, up to the length of a request. */
async function gunzipped(bytes: Uint8Array): Promise<Uint8Array | Refused> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: tracesBody.bytes, chunkSize: 2 ** 18 });
  } catch (e) {
    return e instanceof RangeError ? tooLarge : brokeOff;
  }
}

const tooLarge: Refused = {
  status: 413,
  code: "body_too_large",
  message: `the body is longer than ${tracesBody.bytes} bytes. Send less at a time: several requests, or shorter texts.`,
};
const brokeOff: Refused = {
  status: 400,
  code: "body_broke_off",
  message: "the gzip is broken or breaks off before its end. Send the request again.",
};
const busy: Refused = {
  status: 503,
  code: "busy",
  message: "Other spans are being read. Send the request again in a moment.",
  retryAfter: 1,
};

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
