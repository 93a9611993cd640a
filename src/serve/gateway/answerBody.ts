/** Upstream response bodies: size limits, and decompression for upstreams that compress although asked not to. */
import { pipeline, type Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { type BodyLimits, beyondLimits } from "../../http/body.ts";

/** Most bytes of a response, whole or streamed, so that an endless response does not fill the memory. */
const mostAnswerBytes = 64 << 20;

/** @throws RangeError if a response has more than {@link mostAnswerBytes}. */
export function requireBounded(bytes: number): void {
  if (bytes > mostAnswerBytes) throw new RangeError(`an answer of more than ${mostAnswerBytes} bytes`);
}

/** Limits for parsing a response or one event of it: parsing more would block the event loop. */
const readable: BodyLimits = { bytes: 16 << 20, depth: 100, values: 1_000_000, names: 50_000 };
/** Bodies up to this many bytes are parsed without a check; nearly every response is shorter. */
const surelyReadable = 2 ** 16;

/** Why a response's JSON must not be parsed; nothing if it may be. */
export function whyUnread(json: Uint8Array): string | undefined {
  if (json.length <= surelyReadable) return undefined;
  if (json.length > readable.bytes) return `it has more than ${readable.bytes} bytes`;
  switch (beyondLimits(json, readable)?.code) {
    case undefined:
      return undefined;
    case "too_deep":
      return `it nests deeper than ${readable.depth} levels`;
    case "too_many_names":
      return `it has more than ${readable.names} different names of fields`;
    default:
      return `it has more than ${readable.values} values`;
  }
}

/** Decoders by HTTP content encoding. @param first byte of the body. */
const decoders: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
  // with the zlib header, as the standard says; some servers omit it
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};

/**
 * Decompresses a body as a stream. The reader counts the decompressed bytes.
 * @returns nothing for an unknown encoding, or for several encodings.
 */
export function decoded(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncIterable<Uint8Array> | undefined {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return body;
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  return decoder && decompressed(body, decoder);
}

async function* decompressed(
  body: AsyncIterable<Uint8Array>,
  decoder: (first: number) => Transform,
): AsyncGenerator<Uint8Array> {
  const chunks = counted(body);
  const first = await chunks.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value ?? new Uint8Array();
    yield* chunks;
  }
  const out = decoder(first.value[0] ?? 0);
  // errors reach the reader, and a reader that stops ends the body
  pipeline(all, out, () => {});
  yield* out;
}

/** Limits the compressed bytes too, since compressed input may produce no output. */
async function* counted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    requireBounded(bytes);
    if (chunk.length > 0) yield chunk;
  }
}

/** Reads a body as text. @param most bytes. @throws RangeError for a longer body. */
export async function textOf(body: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most) throw new RangeError(`more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
