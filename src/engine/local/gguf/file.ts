/** Opens GGUF files: metadata and tensors, of which each is read on its own and dequantised to float32. */
import { type FileHandle, open, stat } from "node:fs/promises";
import { gguf, type MetadataValue } from "@huggingface/gguf";
import type { z } from "zod";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../../core/errors.ts";
import { type BlockFormat, blockFormats, dequantise } from "./blocks.ts";

/** A tensor's shape as this engine has it: the last axis lies contiguous in memory. */
export interface GgufTensor {
  readonly shape: readonly number[];
  /** Name of the format of its values, such as "Q4_K". */
  readonly format: string;
}

/** A file whose header has been read, but not its values. Closes with `await using`. */
export interface GgufFile extends AsyncDisposable {
  readonly path: string;
  /** Values by key; whole numbers of 64 bits are numbers here. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Values as float32. @throws WhetstoneError `checkpoint.damaged` when one is not finite. */
  read(name: string): Promise<Float32Array>;
}

/** @param got what is wrong with the file. */
export function damagedGguf(path: string, got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where: path,
    got,
    expected: "a whole GGUF file of one model",
    fix: "Download or copy the file again.",
  });
}

export function unsupportedGguf(path: string, got: string, expected: string, fix: string): WhetstoneError {
  return new WhetstoneError("model.unsupported", { where: path, got, expected, fix });
}

/**
 * Metadata in the form that a model needs.
 * @param own values by key. @param prefix what the keys begin with in the file.
 */
export function checkedMetadata<T>(
  form: z.ZodType<T>,
  own: Readonly<Record<string, unknown>>,
  prefix: string,
  path: string,
): T {
  const parsed = form.safeParse(own);
  if (parsed.success) return parsed.data;
  const { path: at, message } = parsed.error.issues[0]!;
  const key = String(at[0]);
  throw damagedGguf(path, key in own ? `${prefix}${key}: ${message}` : `no ${prefix}${key}`);
}

/** Bytes per read call, roughly. */
const piece = 1 << 24;

interface Place extends GgufTensor {
  readonly block: BlockFormat;
  readonly values: number;
  /** First byte in the file, and the byte after the last. */
  readonly from: number;
  readonly end: number;
}

const plainNumbers = (value: MetadataValue): unknown =>
  typeof value === "bigint" ? Number(value) : Array.isArray(value) ? value.map(plainNumbers) : value;

type Header = Awaited<ReturnType<typeof gguf>>;

/** Bytes of the smallest header: the magic number, the version and two counts. */
const leastBytes = 24;
/** The parser reads this far ahead, at most. */
const ahead = 1e6;

/**
 * Reads a header by the parser's requests for ranges of bytes. Beyond the end of a file the parser would go on with
 * zeros, and make a million empty texts of a count that is wrong.
 */
async function readHeader(file: FileHandle, path: string, size: number): Promise<Header> {
  if (size < leastBytes) throw damagedGguf(path, `${size} bytes`);
  const truncated = damagedGguf(path, "a truncated header");
  const ranges: typeof fetch = async (_, request) => {
    const [from = 0, to = 0] = (new Headers(request?.headers).get("range") ?? "").match(/\d+/g)!.map(Number);
    if (from >= size + ahead) throw truncated;
    const data = new Uint8Array(Math.max(0, Math.min(size, to + 1) - from));
    await readFully(file, path, data, from);
    return new Response(data);
  };
  const header = await gguf("https://localhost", { fetch: ranges }).catch((e: unknown) => {
    if (isWhetstoneError(e)) throw e;
    throw damagedGguf(path, e instanceof RangeError ? "a damaged header" : messageOf(e));
  });
  if (header.tensorDataOffset > size) throw truncated;
  return header;
}

function placesIn(header: Header, path: string, size: number): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const { name, shape, dtype, offset } of header.tensorInfos) {
    const block = blockFormats.get(dtype);
    if (!block) {
      throw unsupportedGguf(
        path,
        `the tensor ${name} in format ${dtype}`,
        `one of ${[...blockFormats.values()].map((f) => f.name).join(", ")}`,
        "Choose a file in another quantisation, such as Q8_0 or Q4_K_M.",
      );
    }
    const sizes = shape.map(Number);
    const values = sizes.reduce((a, b) => a * b, 1);
    const from = Number(header.tensorDataOffset) + Number(offset);
    const row = sizes[0] ?? 0;
    if (values === 0 || row % block.values !== 0) {
      throw damagedGguf(path, `the tensor ${name} of shape [${sizes.join(", ")}] in ${block.name}`);
    }
    const end = from + (values / block.values) * block.bytes;
    if (!(end <= size)) throw damagedGguf(path, `${size} bytes, too short for the tensor ${name}`);
    if (places.has(name)) throw damagedGguf(path, `two tensors of the name ${name}`);
    places.set(name, { shape: sizes.toReversed(), format: block.name, block, values, from, end });
  }
  const inOrder = [...places].sort(([, a], [, b]) => a.from - b.from);
  for (const [i, [name, { from }]] of inOrder.entries()) {
    const before = inOrder[i - 1];
    if (before && from < before[1].end)
      throw damagedGguf(path, `the tensors ${before[0]} and ${name}, which share bytes`);
  }
  return places;
}

/** Fills `data` with the bytes from `at` on. */
async function readFully(file: FileHandle, path: string, data: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesRead } = await file.read(data, done, data.length - done, at + done);
    if (bytesRead === 0) throw damagedGguf(path, "a truncated file");
    done += bytesRead;
  }
}

async function readPlace(file: FileHandle, path: string, name: string, place: Place): Promise<Float32Array> {
  const { block, values, from, end } = place;
  const out = new Float32Array(values);
  const most = block.bytes * Math.floor(piece / block.bytes);
  for (let at = from, to = 0; at < end; ) {
    const data = new Uint8Array(Math.min(most, end - at));
    await readFully(file, path, data, at);
    const numbers = dequantise(block, data);
    out.set(numbers, to);
    to += numbers.length;
    at += data.length;
  }
  for (let i = 0; i < values; i++) {
    if (!Number.isFinite(out[i])) throw damagedGguf(path, `${name}[${i}] = ${out[i]}`);
  }
  return out;
}

/** Opens a file and reads its header. @throws WhetstoneError `checkpoint.damaged`, `model.unsupported`. */
export async function openGguf(path: string): Promise<GgufFile> {
  const unopened = (e: unknown): never => {
    throw damagedGguf(path, messageOf(e));
  };
  // looked at first: to open a named pipe waits for a writer
  const status = await stat(path).catch(unopened);
  if (!status.isFile()) throw damagedGguf(path, status.isDirectory() ? "a folder" : "no ordinary file");
  const file = await open(path).catch(unopened);
  try {
    const header = await readHeader(file, path, status.size);
    if (!header.littleEndian) {
      throw unsupportedGguf(
        path,
        "big-endian numbers",
        "little-endian numbers",
        "Choose the little-endian file.",
      );
    }
    const metadata = Object.fromEntries(
      Object.entries(header.metadata).map(([key, value]) => [key, plainNumbers(value as MetadataValue)]),
    );
    if (Number(metadata["split.count"] ?? 1) > 1) {
      throw unsupportedGguf(
        path,
        `part of a model in ${metadata["split.count"]} files`,
        "one file with the whole model",
        "Join the parts with `llama-gguf-split --merge`.",
      );
    }
    const places = placesIn(header, path, status.size);
    return {
      path,
      metadata,
      tensors: places,
      read: async (name) => {
        const place = places.get(name);
        if (!place) throw damagedGguf(path, `no tensor ${name}`);
        return readPlace(file, path, name, place);
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (e) {
    await file.close();
    throw e;
  }
}
