/** Nearest-neighbour search: a shortlist by bit sketches, then a comparison of vectors. */
import { packVector } from "../core/encoder.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Id } from "../core/types.ts";
import { greatest, type Hit } from "./greatest.ts";

/** Settings of {@link vectorIndex}. */
export interface VectorIndexOptions {
  /** Number of sketch bits per coordinate. Default 1. */
  readonly bits?: number;
  /** Number of entries with the nearest sketches whose vectors are compared. Up to this many entries, all are compared. Default 4000. */
  readonly shortlist?: number;
}

/** Finds the vectors with the greatest cosine to a given one. See {@link vectorIndex}. */
export interface VectorIndex {
  readonly size: number;
  /** Adds or replaces an entry. @param vector of length 1. */
  set(id: Id, vector: ArrayLike<number>): void;
  delete(id: Id): boolean;
  /** The `count` entries with the greatest cosine for which `keep` is true, best first. */
  search(vector: ArrayLike<number>, count: number, keep?: (id: Id) => boolean): readonly Hit[];
}

/**
 * Nearest neighbours by cosine among vectors of length 1. Vectors are quantised to bytes with one scale each: an eighth of
 * the memory of float64, with an error of about 1/2000 in a cosine. Each also has a sketch, the signs of its coordinates
 * after random rotations R_1 … R_bits:
 *
 *     sketch(v) = sign(R v)        P(a bit of a and b differs) = angle(a, b) / π
 *
 * A scan of all sketches costs 1/32 of a scan of all vectors; the `shortlist` nearest entries are then compared by their
 * vectors. Up to that many entries the search is exact except for quantisation. Incremental: new entries are searchable at
 * once, and the index is never rebuilt. A rotation is signs, Walsh–Hadamard, signs, Walsh–Hadamard: n log n steps.
 * Papers: "Similarity Estimation Techniques from Rounding Algorithms" (sketches); "Practical and Optimal LSH for Angular
 * Distance" (fast rotations).
 */
export function vectorIndex(width: number, options: VectorIndexOptions = {}): VectorIndex {
  const { bits = 1, shortlist = 4000 } = options;
  const padded = 2 ** Math.ceil(Math.log2(Math.max(32, width)));
  const words = (padded / 32) * bits;
  const flips = Array.from({ length: 2 * bits }, (_, round) => signsOf(padded, round));
  const ids: Id[] = [];
  const rowOf = new Map<Id, number>();
  let bytes = new Int8Array(64 * width);
  let scales = new Float32Array(64);
  let sketches = new Int32Array(64 * words);

  function sketchOf(vector: ArrayLike<number>): Int32Array {
    const out = new Int32Array(words);
    for (let r = 0; r < bits; r++) {
      const turned = new Float32Array(padded);
      for (let i = 0; i < width; i++) turned[i] = vector[i]!;
      for (const flip of [flips[2 * r]!, flips[2 * r + 1]!]) {
        for (let i = 0; i < padded; i++) turned[i]! *= flip[i]!;
        walshHadamard(turned);
      }
      for (let i = 0; i < padded; i++) if (turned[i]! > 0) out[(r * padded + i) >> 5]! |= 1 << (i & 31);
    }
    return out;
  }

  function room(): void {
    if (ids.length < scales.length) return;
    bytes = grown(bytes, new Int8Array(2 * bytes.length));
    scales = grown(scales, new Float32Array(2 * scales.length));
    sketches = grown(sketches, new Int32Array(2 * sketches.length));
  }

  /** Rows to compare: of the nearest sketches, or all. */
  function candidates(sketch: Int32Array, keep: ((id: Id) => boolean) | undefined): number[] {
    const rows = ids.length;
    const wanted = (row: number): boolean => keep === undefined || keep(ids[row]!);
    if (rows <= shortlist) return [...ids.keys()].filter(wanted);
    const far_R = new Uint16Array(rows);
    const histogram = new Int32Array(32 * words + 1);
    for (let row = 0, at = 0; row < rows; row++) {
      let differing = 0;
      for (let from = 0; from < words; from += 16) {
        // set bits of sixteen words, counted in the four bytes of one number: at most 128 in each
        let bytes = 0;
        for (let w = from; w < from + 16 && w < words; w++, at++) {
          let x = sketches[at]! ^ sketch[w]!;
          x -= (x >>> 1) & 0x55555555;
          x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
          bytes += (x + (x >>> 4)) & 0x0f0f0f0f;
        }
        bytes = (bytes & 0x00ff00ff) + ((bytes >>> 8) & 0x00ff00ff);
        differing += (bytes & 0xffff) + (bytes >>> 16);
      }
      far_R[row] = differing;
      if (keep === undefined || wanted(row)) histogram[differing]!++;
    }
    let limit = 0;
    for (let some = histogram[0]!; some < shortlist && limit < 32 * words; ) some += histogram[++limit]!;
    const out: number[] = [];
    for (let row = 0; row < rows; row++) if (far_R[row]! <= limit && wanted(row)) out.push(row);
    return out;
  }

  const check = (vector: ArrayLike<number>): void => {
    if (vector.length === width) return;
    throw new WhetstoneError("option.range", {
      where: "vector index",
      got: `a vector of ${vector.length} numbers`,
      expected: `${width} numbers, the width of the index`,
      fix: "Use one encoder for all entries of an index; after changing it, rebuild the index.",
    });
  };

  return {
    get size() {
      return ids.length;
    },
    set(id, vector) {
      check(vector);
      let row = rowOf.get(id);
      if (row === undefined) {
        room();
        row = ids.length;
        ids.push(id);
        rowOf.set(id, row);
      }
      const packed = packVector(vector);
      scales[row] = packed.scale;
      bytes.set(packed.bytes, row * width);
      sketches.set(sketchOf(vector), row * words);
    },
    delete(id) {
      const row = rowOf.get(id);
      if (row === undefined) return false;
      // the last row moves into the gap
      const last = ids.length - 1;
      const moved = ids[last]!;
      ids[row] = moved;
      rowOf.set(moved, row);
      bytes.copyWithin(row * width, last * width, (last + 1) * width);
      scales[row] = scales[last]!;
      sketches.copyWithin(row * words, last * words, (last + 1) * words);
      ids.pop();
      rowOf.delete(id);
      return true;
    },
    search(vector, count, keep) {
      check(vector);
      const best = greatest(count);
      for (const row of candidates(sketchOf(vector), keep)) {
        let sum = 0;
        for (let i = 0, at = row * width; i < width; i++, at++) sum += bytes[at]! * vector[i]!;
        best.offer(row, sum * scales[row]!);
      }
      return best.all().map(({ row, score }) => ({ id: ids[row]!, score }));
    },
  };
}

function grown<T extends Int8Array | Float32Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** ±1 by a fixed generator (xorshift32), so that sketches are the same on every machine. */
function signsOf(length: number, round: number): Float32Array {
  let x = Math.imul(round + 1, 0x9e3779b1) | 1;
  return Float32Array.from({ length }, () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x < 0 ? -1 : 1;
  });
}

/** x ← H x for the Hadamard matrix of ±1 of its length, a power of two; in place. */
function walshHadamard(x: Float32Array): void {
  for (let half = 1; half < x.length; half *= 2) {
    for (let block = 0; block < x.length; block += 2 * half) {
      for (let i = block; i < block + half; i++) {
        const a = x[i]!;
        const b = x[i + half]!;
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
}
