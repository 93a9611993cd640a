/** Fields of proto3 messages, and numbers within `bytes`, which are little-endian. */
import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { WhetstoneError } from "../../core/errors.ts";
import type { Tensor } from "./tensors.ts";

type Fields = (w: BinaryWriter) => void;

export const message = (w: BinaryWriter, field: number, fields: Fields): void => {
  w.tag(field, WireType.LengthDelimited).fork();
  fields(w);
  w.join();
};
export const text = (w: BinaryWriter, field: number, value: string): void => {
  if (value !== "") w.tag(field, WireType.LengthDelimited).string(value);
};
export const bytes = (w: BinaryWriter, field: number, value: Uint8Array): void => {
  w.tag(field, WireType.LengthDelimited).bytes(value);
};
export const int = (w: BinaryWriter, field: number, value: number): void => {
  if (value !== 0) w.tag(field, WireType.Varint).int64(value);
};
export const double = (w: BinaryWriter, field: number, value: number): void => {
  w.tag(field, WireType.Bit64).double(value);
};
export const ints = (w: BinaryWriter, field: number, values: readonly number[]): void => {
  if (values.length === 0) return;
  message(w, field, () => {
    for (const value of values) w.int64(value);
  });
};
export const entry = (w: BinaryWriter, field: number, key: string, value: Fields): void =>
  message(w, field, () => {
    text(w, 1, key);
    value(w);
  });

/** Reads the fields of the next message, each with its reader; unknown fields are skipped. */
export function fieldsOf(
  r: BinaryReader,
  readers: Readonly<Record<number, (wire: WireType) => void>>,
  end: number = r.len,
): void {
  while (r.pos < end) {
    const [field, wire] = r.tag();
    const read = readers[field];
    if (read) read(wire);
    else r.skip(wire, field);
  }
}

/** The same for a nested message. */
export function inner(r: BinaryReader, readers: Readonly<Record<number, (wire: WireType) => void>>): void {
  const length = r.uint32();
  fieldsOf(r, readers, r.pos + length);
}

/** A repeated number, packed or not. */
export function repeated(r: BinaryReader, wire: WireType, read: () => void): void {
  const packed = wire === WireType.LengthDelimited;
  const end = packed ? r.uint32() + r.pos : r.pos + 1;
  while (r.pos < end) read();
}

export const dtypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const;

export function damaged(got: string, expected: string): WhetstoneError {
  return new WhetstoneError("import.invalid", {
    where: "a tinker_public message",
    got,
    expected,
    fix: "Check that both sides speak the same version of the API.",
  });
}

/** Copies the bytes of whole numbers into aligned memory. @throws WhetstoneError `import.invalid`. */
function apart(b: Uint8Array, width: number): ArrayBuffer {
  if (b.length % width === 0) return new Uint8Array(b).buffer;
  throw damaged(`${b.length} bytes`, `a multiple of the ${width} bytes of a number`);
}
export const floatsIn = (b: Uint8Array): Float32Array<ArrayBuffer> => new Float32Array(apart(b, 4));
export const idsIn = (b: Uint8Array): Int32Array<ArrayBuffer> => new Int32Array(apart(b, 4));

/** @throws WhetstoneError `import.invalid` for another dtype, a truncated number, or an id beyond 32 bits. */
export function numbersIn(b: Uint8Array, dtype: number): Float32Array | Int32Array {
  switch (dtype) {
    case dtypes.float32:
      return floatsIn(b);
    case dtypes.int32:
      return idsIn(b);
    case dtypes.bfloat16: {
      // bfloat16 is the upper half of a float32
      const bits = Uint32Array.from(new Uint16Array(apart(b, 2)), (half) => half << 16);
      return new Float32Array(bits.buffer);
    }
    case dtypes.int64: {
      const halves = new Int32Array(apart(b, 8));
      return Int32Array.from({ length: halves.length / 2 }, (_, i) => {
        const [low, high] = [halves[2 * i]!, halves[2 * i + 1]!];
        if (high === low >> 31) return low;
        throw damaged(`the id ${(low >>> 0) + 2 ** 32 * high}`, "ids of 32 bits");
      });
    }
    default:
      throw damaged(`dtype ${dtype}`, "float32, int64, int32 or bfloat16");
  }
}

// as two 32-bit halves: a BigInt per number would cost more than everything else
export function longs(b: Uint8Array): number[] {
  const halves = new Uint32Array(apart(b, 8));
  return Array.from(
    { length: halves.length / 2 },
    (_, i) => halves[2 * i]! + 2 ** 32 * (halves[2 * i + 1]! | 0),
  );
}
export function longBytes(values: ArrayLike<number>): Uint8Array {
  const halves = new Int32Array(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    halves[2 * i] = value; // its lower 32 bits
    halves[2 * i + 1] = Math.floor(value / 2 ** 32);
  }
  return memoryOf(halves);
}

/** The bytes in memory, which are little-endian on every machine that Node runs on. */
const memoryOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
export const floatBytes = (values: ArrayLike<number>): Uint8Array =>
  memoryOf(values instanceof Float32Array ? values : Float32Array.from(values));
export const idBytes = (values: ArrayLike<number>): Uint8Array =>
  memoryOf(values instanceof Int32Array ? values : Int32Array.from(values));
export const tensorBytes = ({ dtype, data }: Tensor): Uint8Array =>
  dtype === "float32" ? floatBytes(data) : longBytes(data);

export function readEntry<T>(r: BinaryReader, read: () => T, absent: T): [string, T] {
  let key = "";
  let value = absent;
  inner(r, { 1: () => void (key = r.string()), 2: () => void (value = read()) });
  return [key, value];
}
