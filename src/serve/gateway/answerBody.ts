/** Bodies of answers: how long they may be, and what is in those that an upstream compressed although it was asked not to. */
import { pipeline, type Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { type BodyLimits, beyondLimits } from "../../http/body.ts";

/** Bytes of an answer, in one piece or event by event: whoever never ends one must not fill the memory. */
const mostAnswerBytes = 64 << 20;

/** @throws RangeError for more than an answer may have. */
export function requireBounded(bytes: number): void {
  if (bytes > mostAnswerBytes) throw new RangeError(`an answer of more than ${mostAnswerBytes} bytes`);
}

/** What an answer, or one event of it, may hold to be read: parsing what is beyond would keep everybody else waiting. */
const readable: BodyLimits = { bytes: 16 << 20, depth: 100, values: 1_000_000, names: 50_000 };
/** Bytes that hold too little to be looked at beforehand, as those of nearly every answer. */
const surelyReadable = 2 ** 16;

/** Why the JSON of an answer is not to be parsed; nothing where it may be. */
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

/** By the names that HTTP has for encodings. @param first byte of the body. */
const decoders: Readonly<Record<string, (first: number) => Transform>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
  // with the header of zlib, and without it from servers that take the word at its word
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};

/**
 * A body as it was before it was compressed, piece by piece as it comes: whoever reads it counts what came of it.
 * @returns nothing for an encoding that is not known, or several of them.
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
  // what fails here fails for whoever reads, and what is read no further ends the body
  pipeline(all, out, () => {});
  yield* out;
}

/** Compressed, an answer may go on without anything coming of it. */
async function* counted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    requireBounded(bytes);
    if (chunk.length > 0) yield chunk;
  }
}

/** A whole text. @param most bytes. @throws RangeError for a longer one. */
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
