/** The KV cache of the rows that decode together, with one slot per row. */
import { keyName, valueName } from "./cachedGraphs.ts";
import type { DecoderConfig } from "./config.ts";

export interface Cache {
  readonly slots: number;
  /** Tokens that fit in a slot. */
  readonly places: number;
  /** By input name, [slots, kvHeads, places, headWidth]. Unwritten values are finite but arbitrary. */
  readonly arrays: Readonly<Record<string, Float32Array>>;
}

/** Moves a row: the first `length` positions of slot `from` go to slot `to`. */
export interface Move {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

const namesOf = (c: DecoderConfig): string[] =>
  Array.from({ length: c.layers }, (_, i) => [keyName(i), valueName(i)]).flat();

export const emptyCache = (c: DecoderConfig): Cache => ({
  slots: 0,
  places: 0,
  arrays: Object.fromEntries(namesOf(c).map((name) => [name, new Float32Array()])),
});

interface Part {
  readonly arrays: Readonly<Record<string, Float32Array>>;
  readonly places: number;
}

/** Copies rows from one set of arrays to another. Within one set, every row must move to a lower slot. */
export function copyRows(c: DecoderConfig, from: Part, to: Part, moves: readonly Move[]): void {
  const width = c.headWidth;
  for (const name of namesOf(c)) {
    const source = from.arrays[name]!;
    const target = to.arrays[name]!;
    for (const move of moves) {
      for (let h = 0; h < c.kvHeads; h++) {
        const start = (move.from * c.kvHeads + h) * from.places * width;
        const at = (move.to * c.kvHeads + h) * to.places * width;
        target.set(source.subarray(start, start + move.length * width), at);
      }
    }
  }
}

/** The cache, resized. @param moves of all rows that stay, each to a distinct slot that no other row had before. */
export function resized(
  c: DecoderConfig,
  cache: Cache,
  slots: number,
  places: number,
  moves: readonly Move[],
): Cache {
  const size = slots * c.kvHeads * places * c.headWidth;
  const roomy = Object.values(cache.arrays).every((array) => array.buffer.byteLength >= 4 * size);
  // slots are contiguous, so a cache with fewer slots is a prefix of the same memory
  const inPlace = places === cache.places && roomy;
  const array = (old: Float32Array): Float32Array =>
    inPlace ? new Float32Array(old.buffer, 0, size) : new Float32Array(size);
  const arrays = Object.fromEntries(namesOf(c).map((name) => [name, array(cache.arrays[name]!)]));
  const needed = inPlace ? moves.filter((m) => m.from !== m.to) : moves;
  copyRows(c, cache, { arrays, places }, needed);
  return { slots, places, arrays };
}
