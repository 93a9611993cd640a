/** Numbers as the bytes of a format, rounded as llama.cpp rounds them. */
import { toBFloat16 } from "../safetensors.ts";

export const packedTypes = ["F32", "F16", "BF16", "Q8_0"] as const;
/** Formats that are written. */
export type PackedType = (typeof packedTypes)[number];

const bytesIn = (array: Float32Array | Uint16Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Float16 bits of a number: to the nearest, ties to even; beyond its range, an infinity. */
export const toFloat16 = (x: number): number => new Uint16Array(Float16Array.of(x).buffer)[0]!;

/** Blocks of 32 with one scale. The whole numbers follow from the scale before it is rounded, as in llama.cpp. */
function packQ8(values: Float32Array): Uint8Array {
  const out = new Uint8Array((values.length / 32) * 34);
  const half = new Float16Array(1);
  const bytes = new Uint8Array(half.buffer);
  for (let at = 0, to = 0; at < values.length; at += 32, to += 34) {
    let largest = 0;
    for (let i = 0; i < 32; i++) largest = Math.max(largest, Math.abs(values[at + i]!));
    const scale = Math.fround(largest / 127);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    half[0] = scale;
    out.set(bytes, to);
    for (let i = 0; i < 32; i++) {
      const x = Math.fround(values[at + i]! * inverse);
      out[to + 2 + i] = x < 0 ? -Math.floor(0.5 - x) : Math.floor(x + 0.5); // halves away from zero
    }
  }
  return out;
}

/** @param values of Q8_0: a multiple of 32. */
export function pack(values: Float32Array, type: PackedType): Uint8Array {
  switch (type) {
    case "F32":
      return bytesIn(values);
    case "F16":
      return new Uint8Array(Float16Array.from(values).buffer);
    case "BF16":
      return bytesIn(toBFloat16(values));
    case "Q8_0":
      return packQ8(values);
  }
}
