/** Numbers as the bytes of a format, rounded as llama.cpp rounds them. */
import { toBFloat16 } from "../safetensors.ts";

export const packedTypes = ["F32", "F16", "BF16", "Q8_0"] as const;
/** Formats that are written. */
export type PackedType = (typeof packedTypes)[number];

const bytesIn = (array: Float32Array | Uint16Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

const word = new Float32Array(1);
const bits = new Uint32Array(word.buffer);

/** Float16 bits of a number: to the nearest, ties to even; beyond its range, an infinity. */
export function toFloat16(x: number): number {
  word[0] = x;
  const sign = (bits[0]! >>> 16) & 0x8000;
  const size = Math.abs(x);
  if (!(size < 65520)) return Number.isNaN(x) ? sign | 0x7e00 : sign | 0x7c00;
  // below 2 ** −14 steps are equal; above, a step of its own for each power of two
  const exponent = Math.max(-14, Math.floor(Math.log2(size || Number.MIN_VALUE)));
  const step = 2 ** (exponent - 10);
  const scaled = size / step;
  const whole = Math.floor(scaled);
  const rest = scaled - whole;
  const rounded = rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole;
  // a mantissa that overflows carries into the exponent, as it should
  return sign | (rounded < 1024 ? rounded : (exponent + 14) * 1024 + rounded);
}

/** Blocks of 32 with one scale. The whole numbers follow from the scale before it is rounded, as in llama.cpp. */
function packQ8(values: Float32Array): Uint8Array {
  const out = new Uint8Array((values.length / 32) * 34);
  for (let at = 0, to = 0; at < values.length; at += 32, to += 34) {
    let largest = 0;
    for (let i = 0; i < 32; i++) largest = Math.max(largest, Math.abs(values[at + i]!));
    const scale = Math.fround(largest / 127);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    const half = toFloat16(scale);
    out[to] = half & 255;
    out[to + 1] = half >> 8;
    for (let i = 0; i < 32; i++) {
      const x = Math.fround(values[at + i]! * inverse);
      out[to + 2 + i] = Math.sign(x) * Math.floor(Math.abs(x) + 0.5); // halves away from zero
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
      return bytesIn(Uint16Array.from(values, toFloat16));
    case "BF16":
      return bytesIn(toBFloat16(values));
    case "Q8_0":
      return packQ8(values);
  }
}
