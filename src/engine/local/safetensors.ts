/**
 * The safetensors format: 8 bytes of header length, a JSON header, raw little-endian values. Files are read tensor by
 * tensor and written in chunks, so that no data is in memory twice.
 */
import { type FileHandle, open } from "node:fs/promises";
import { z } from "zod";
import { writeError } from "../../common/files/files.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { halfTable } from "./float16.ts";

export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Bytes per value of the dtypes that can be converted to float32. */
const widths = { F32: 4, BF16: 2, F16: 2 } as const;
export type ValueType = keyof typeof widths;
const isValueType = (dtype: string): dtype is ValueType => Object.hasOwn(widths, dtype);

/** A file whose header has been read, but not its values. Closes with `await using`. */
export interface SafetensorsFile extends AsyncDisposable {
  readonly path: string;
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** Values as float32. @throws WhetstoneError `checkpoint.damaged` when one is not finite. */
  read(name: string): Promise<Float32Array>;
}

const entry = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const header = z.record(z.string(), z.union([entry, z.record(z.string(), z.string())]));
/** The header limit of other implementations. */
const longestHeader = 100_000_000;
/** Bytes per read or write call, which can transfer less than 2 GiB. */
const piece = 1 << 24;

function damaged(where: string, got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where,
    got,
    expected: "a whole safetensors file of float32, bfloat16 or float16 tensors",
    fix: "Use an intact copy of the file.",
  });
}

async function readExactly(file: FileHandle, into: Uint8Array, at: number, path: string): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, Math.min(piece, into.length - done), at + done);
    if (bytesRead === 0) throw damaged(path, "a truncated file");
    done += bytesRead;
  }
}

interface Place {
  readonly dtype: ValueType;
  readonly shape: readonly number[];
  /** First byte of its values in the file. */
  readonly from: number;
}

async function readHeader(file: FileHandle, path: string): Promise<Map<string, Place>> {
  const there = await file.stat();
  if (there.isDirectory()) throw damaged(path, "a folder");
  const { size } = there;
  if (size < 8) throw damaged(path, `${size} bytes`);
  const prefix = new Uint8Array(8);
  await readExactly(file, prefix, 0, path);
  const length = Number(new DataView(prefix.buffer).getBigUint64(0, true));
  if (8 + length > size) throw damaged(path, `a header of ${length} bytes in a file of ${size}`);
  if (length > longestHeader) throw damaged(path, `a header of ${length} bytes`);
  const text = new Uint8Array(length);
  await readExactly(file, text, 8, path);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(text));
  } catch {
    throw damaged(path, "a header that is not JSON");
  }
  const parsed = header.safeParse(json);
  if (!parsed.success) throw damaged(path, "a malformed header");
  const places = new Map<string, Place>();
  let end = 0;
  for (const [name, field] of Object.entries(parsed.data)) {
    const tensor = entry.safeParse(field);
    if (!tensor.success) continue; // metadata
    const { dtype, shape, data_offsets } = tensor.data;
    const [from, to] = data_offsets;
    if (!isValueType(dtype)) throw damaged(path, `${name} of type ${dtype}`);
    if (to - from !== widths[dtype] * shape.reduce((a, b) => a * b, 1) || 8 + length + to > size) {
      throw damaged(path, `a file of ${size} bytes, too short for ${name}`);
    }
    end = Math.max(end, to);
    places.set(name, { dtype, shape, from: 8 + length + from });
  }
  // a flipped bit in the header length would shift every value and may still leave a header that parses
  if (8 + length + end !== size) {
    throw damaged(path, `${size} bytes instead of the header's ${8 + length + end}`);
  }
  return places;
}

async function readValues(file: FileHandle, path: string, place: Place): Promise<Float32Array> {
  const size = place.shape.reduce((a, b) => a * b, 1);
  const out = new Float32Array(size);
  if (place.dtype === "F32") {
    await readExactly(file, new Uint8Array(out.buffer), place.from, path);
    return out;
  }
  const bits = new Uint32Array(out.buffer);
  const table = place.dtype === "F16" ? halfTable() : undefined;
  const some = new Uint16Array(Math.min(size, piece / 2));
  for (let done = 0; done < size; done += some.length) {
    const part = some.subarray(0, Math.min(some.length, size - done));
    await readExactly(file, new Uint8Array(part.buffer, 0, part.byteLength), place.from + 2 * done, path);
    if (table) for (let i = 0; i < part.length; i++) out[done + i] = table[part[i]!]!;
    else for (let i = 0; i < part.length; i++) bits[done + i] = part[i]! << 16;
  }
  return out;
}

/** Opens a file and reads its header. @throws WhetstoneError `checkpoint.damaged`. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const file = await open(path).catch((e: unknown) => {
    throw damaged(path, messageOf(e));
  });
  try {
    const places = await readHeader(file, path);
    return {
      path,
      shapes: new Map([...places].map(([name, { shape }]) => [name, shape])),
      async read(name) {
        const place = places.get(name);
        if (!place) throw damaged(path, `no tensor ${name}`);
        const values = await readValues(file, path, place);
        for (let i = 0; i < values.length; i++) {
          if (!Number.isFinite(values[i])) throw damaged(path, `${name}[${i}] = ${values[i]}`);
        }
        return values;
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (e) {
    await file.close();
    throw e;
  }
}

/** Rounds float32 to bfloat16: to the nearest, ties to even. */
export function toBFloat16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const out = new Uint16Array(values.length);
  for (let i = 0; i < out.length; i++) {
    const b = bits[i]!;
    out[i] = Number.isNaN(values[i]) ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
  }
  return out;
}

const bytesOf = (array: Float32Array | Uint16Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/**
 * Writes a file and flushes it to the disk.
 * @param dtype of the values on disk. Default "F32".
 * @throws WhetstoneError `disk.write` or `folder.unwritable`.
 */
export async function writeSafetensors(
  path: string,
  tensors: readonly NamedTensor[],
  dtype: "F32" | "BF16" = "F32",
): Promise<void> {
  let at = 0;
  const fields: [string, unknown][] = [["__metadata__", { format: "pt" }]];
  for (const { name, shape, data } of tensors) {
    const to = at + widths[dtype] * data.length;
    fields.push([name, { dtype, shape, data_offsets: [at, to] }]);
    at = to;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(fields)));
  const text = new Uint8Array(8 * Math.ceil(json.length / 8)).fill(0x20);
  text.set(json);
  const prefix = new Uint8Array(8);
  new DataView(prefix.buffer).setBigUint64(0, BigInt(text.length), true);
  try {
    const file = await open(path, "w");
    try {
      await file.writeFile(prefix);
      await file.writeFile(text);
      for (const { data } of tensors) {
        for (let from = 0; from < data.length; from += piece / 4) {
          const part = data.subarray(from, from + piece / 4);
          await file.writeFile(bytesOf(dtype === "F32" ? part : toBFloat16(part)));
        }
      }
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (e) {
    throw writeError(path, e);
  }
}
