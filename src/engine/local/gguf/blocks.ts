/**
 * The value formats of GGUF files: each stores blocks of numbers as small integers with a scale. Formulas and layouts as
 * in `ggml-quants.c` of llama.cpp, rounded to float32 at the same steps as its Python package `gguf`.
 */
import { halfTable } from "../float16.ts";

/** How one type of tensor is stored. */
export interface BlockFormat {
  readonly name: string;
  /** Numbers in a block. */
  readonly values: number;
  /** Bytes of a block. */
  readonly bytes: number;
  /** Writes the numbers of the block that begins at byte `at` to `out`, from index `to` on. */
  unpack(data: Uint8Array, at: number, out: Float32Array, to: number): void;
}

const { fround } = Math;

/** The float16 at a byte. */
const half = (data: Uint8Array, at: number): number => halfTable()[data[at]! | (data[at + 1]! << 8)]!;

const int8 = (byte: number): number => (byte << 24) >> 24;

const word = new DataView(new ArrayBuffer(4));
function float32(b0: number, b1: number, b2: number, b3: number): number {
  word.setUint32(0, ((b3 << 24) | (b2 << 16) | (b1 << 8) | b0) >>> 0);
  return word.getFloat32(0);
}

const F32: BlockFormat = {
  name: "F32",
  values: 1,
  bytes: 4,
  unpack: (data, at, out, to) => {
    out[to] = float32(data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!);
  },
};

const F16: BlockFormat = {
  name: "F16",
  values: 1,
  bytes: 2,
  unpack: (data, at, out, to) => {
    out[to] = half(data, at);
  },
};

const BF16: BlockFormat = {
  name: "BF16",
  values: 1,
  bytes: 2,
  unpack: (data, at, out, to) => {
    out[to] = float32(0, 0, data[at]!, data[at + 1]!);
  },
};

const Q8_0: BlockFormat = {
  name: "Q8_0",
  values: 32,
  bytes: 34,
  unpack(data, at, out, to) {
    const d = half(data, at);
    for (let i = 0; i < 32; i++) out[to + i] = d * int8(data[at + 2 + i]!);
  },
};

const Q4_0: BlockFormat = {
  name: "Q4_0",
  values: 32,
  bytes: 18,
  unpack(data, at, out, to) {
    const d = half(data, at);
    for (let i = 0; i < 16; i++) {
      const byte = data[at + 2 + i]!;
      out[to + i] = d * ((byte & 15) - 8);
      out[to + 16 + i] = d * ((byte >> 4) - 8);
    }
  },
};

const Q4_1: BlockFormat = {
  name: "Q4_1",
  values: 32,
  bytes: 20,
  unpack(data, at, out, to) {
    const [d, m] = [half(data, at), half(data, at + 2)];
    for (let i = 0; i < 16; i++) {
      const byte = data[at + 4 + i]!;
      out[to + i] = fround(d * (byte & 15)) + m;
      out[to + 16 + i] = fround(d * (byte >> 4)) + m;
    }
  },
};

/** The fifth bits of 32 numbers. */
const fifths = (data: Uint8Array, at: number): number =>
  data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);

const Q5_0: BlockFormat = {
  name: "Q5_0",
  values: 32,
  bytes: 22,
  unpack(data, at, out, to) {
    const d = half(data, at);
    const high = fifths(data, at + 2);
    for (let i = 0; i < 16; i++) {
      const byte = data[at + 6 + i]!;
      out[to + i] = d * (((byte & 15) | (((high >>> i) & 1) << 4)) - 16);
      out[to + 16 + i] = d * (((byte >> 4) | (((high >>> (16 + i)) & 1) << 4)) - 16);
    }
  },
};

const Q5_1: BlockFormat = {
  name: "Q5_1",
  values: 32,
  bytes: 24,
  unpack(data, at, out, to) {
    const [d, m] = [half(data, at), half(data, at + 2)];
    const high = fifths(data, at + 4);
    for (let i = 0; i < 16; i++) {
      const byte = data[at + 8 + i]!;
      out[to + i] = fround(d * ((byte & 15) | (((high >>> i) & 1) << 4))) + m;
      out[to + 16 + i] = fround(d * ((byte >> 4) | (((high >>> (16 + i)) & 1) << 4))) + m;
    }
  },
};

const Q2_K: BlockFormat = {
  name: "Q2_K",
  values: 256,
  bytes: 84,
  unpack(data, at, out, to) {
    const [d, least] = [half(data, at + 80), half(data, at + 82)];
    for (let g = 0; g < 16; g++) {
      const packed = data[at + g]!;
      const [scale, floor] = [fround(d * (packed & 15)), fround(least * (packed >> 4))];
      // 8 groups of 16 share 32 bytes, two bits of each byte for two groups
      const from = at + 16 + 32 * (g >> 3) + 16 * (g & 1);
      const shift = 2 * ((g & 7) >> 1);
      for (let i = 0; i < 16; i++) {
        out[to + 16 * g + i] = fround(scale * ((data[from + i]! >> shift) & 3)) - floor;
      }
    }
  },
};

const Q3_K: BlockFormat = {
  name: "Q3_K",
  values: 256,
  bytes: 110,
  unpack(data, at, out, to) {
    const d = half(data, at + 108);
    const scales = at + 96;
    for (let g = 0; g < 16; g++) {
      const low = (data[scales + (g & 7)]! >> (4 * (g >> 3))) & 15;
      const high = (data[scales + 8 + (g & 3)]! >> (2 * (g >> 2))) & 3;
      const scale = fround(d * ((low | (high << 4)) - 32));
      const from = at + 32 + 32 * (g >> 3) + 16 * (g & 1);
      const shift = 2 * ((g & 7) >> 1);
      const bit = g >> 1;
      for (let i = 0; i < 16; i++) {
        // a set bit means that nothing is subtracted
        const unset = ((data[at + 16 * (g & 1) + i]! >> bit) & 1) ^ 1;
        out[to + 16 * g + i] = scale * (((data[from + i]! >> shift) & 3) - 4 * unset);
      }
    }
  },
};

/** Scale and minimum of a group of 32 in the K formats: 6 bits each, in 12 bytes. */
function scaleAndMin(data: Uint8Array, at: number, g: number): readonly [number, number] {
  if (g < 4) return [data[at + g]! & 63, data[at + 4 + g]! & 63];
  const both = data[at + 4 + g]!;
  return [(both & 15) | ((data[at + g - 4]! >> 2) & 48), (both >> 4) | ((data[at + g]! >> 2) & 48)];
}

const Q4_K: BlockFormat = {
  name: "Q4_K",
  values: 256,
  bytes: 144,
  unpack(data, at, out, to) {
    const [d, least] = [half(data, at), half(data, at + 2)];
    for (let g = 0; g < 8; g++) {
      const [s, m] = scaleAndMin(data, at + 4, g);
      const [scale, floor] = [fround(d * s), fround(least * m)];
      const from = at + 16 + 32 * (g >> 1);
      const shift = 4 * (g & 1);
      for (let i = 0; i < 32; i++) {
        out[to + 32 * g + i] = fround(scale * ((data[from + i]! >> shift) & 15)) - floor;
      }
    }
  },
};

const Q5_K: BlockFormat = {
  name: "Q5_K",
  values: 256,
  bytes: 176,
  unpack(data, at, out, to) {
    const [d, least] = [half(data, at), half(data, at + 2)];
    for (let g = 0; g < 8; g++) {
      const [s, m] = scaleAndMin(data, at + 4, g);
      const [scale, floor] = [fround(d * s), fround(least * m)];
      const from = at + 48 + 32 * (g >> 1);
      const shift = 4 * (g & 1);
      for (let i = 0; i < 32; i++) {
        const fifth = (data[at + 16 + i]! >> g) & 1;
        out[to + 32 * g + i] = fround(scale * (((data[from + i]! >> shift) & 15) | (fifth << 4))) - floor;
      }
    }
  },
};

const Q6_K: BlockFormat = {
  name: "Q6_K",
  values: 256,
  bytes: 210,
  unpack(data, at, out, to) {
    const d = half(data, at + 208);
    for (let g = 0; g < 8; g++) {
      const from = at + 64 * (g >> 2) + 32 * (g & 1);
      const shift = 4 * ((g >> 1) & 1);
      const high = at + 128 + 32 * (g >> 2);
      const highShift = 2 * (g & 3);
      for (let i = 0; i < 32; i++) {
        const scale = fround(d * int8(data[at + 192 + 2 * g + (i >> 4)]!));
        const value = ((data[from + i]! >> shift) & 15) | (((data[high + i]! >> highShift) & 3) << 4);
        out[to + 32 * g + i] = scale * (value - 32);
      }
    }
  },
};

/** Formats by the number that stands for them in a file (`ggml_type`). */
export const blockFormats: ReadonlyMap<number, BlockFormat> = new Map([
  [0, F32],
  [1, F16],
  [2, Q4_0],
  [3, Q4_1],
  [6, Q5_0],
  [7, Q5_1],
  [8, Q8_0],
  [10, Q2_K],
  [11, Q3_K],
  [12, Q4_K],
  [13, Q5_K],
  [14, Q6_K],
  [30, BF16],
]);

/** The numbers of whole blocks. @param data a multiple of the format's bytes. */
export function dequantise(format: BlockFormat, data: Uint8Array): Float32Array {
  const blocks = data.length / format.bytes;
  const out = new Float32Array(blocks * format.values);
  for (let b = 0; b < blocks; b++) format.unpack(data, b * format.bytes, out, b * format.values);
  return out;
}
