/** Keys and values of the rows that decode together, a slot for each row. */
import { keyName, valueName } from "./cachedGraphs.ts";
import type { DecoderConfig } from "./config.ts";

export interface Cache {
  readonly slots: number;
  /** Tokens that a slot has room for. */
  readonly places: number;
  /** By input name, [slots, kvHeads, places, headWidth]. What no row has written is finite, but anything. */
  readonly arrays: Readonly<Record<string, Float32Array>>;
}

/** A row that moves: the first `length` places of slot `from` go to slot `to`. */
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

/** Copies rows from one set of arrays to another, or within one, where every row moves to a lower slot. */
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

/** The cache in other sizes. @param moves of all rows that stay, each to a slot that no other row has or had. */
export function resized(
  c: DecoderConfig,
  cache: Cache,
  slots: number,
  places: number,
  moves: readonly Move[],
): Cache {
  const size = slots * c.kvHeads * places * c.headWidth;
  const roomy = Object.values(cache.arrays).every((array) => array.buffer.byteLength >= 4 * size);
  // slots lie one after the other, so that a cache with fewer of them is the beginning of the same memory
  const inPlace = places === cache.places && roomy;
  const array = (old: Float32Array): Float32Array =>
    inPlace ? new Float32Array(old.buffer, 0, size) : new Float32Array(size);
  const arrays = Object.fromEntries(namesOf(c).map((name) => [name, array(cache.arrays[name]!)]));
  const needed = inPlace ? moves.filter((m) => m.from !== m.to) : moves;
  copyRows(c, cache, { arrays, places }, needed);
  return { slots, places, arrays };
}
