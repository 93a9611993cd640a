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

/** Moves `length` positions of slot `from` to slot `to`. */
export interface Move {
  readonly from: number;
  readonly to: number;
  readonly length: number;
  /** The first position in each slot. Default 0. */
  readonly fromPlace?: number;
  readonly toPlace?: number;
}

/** The names of the keys and values of each layer. */
export const cacheNames = (c: DecoderConfig): string[] =>
  Array.from({ length: c.layers }, (_, i) => [keyName(i), valueName(i)]).flat();

/** Memory for keys and values. */
export const newCache = (c: DecoderConfig, slots: number, places: number): Cache => ({
  slots,
  places,
  arrays: Object.fromEntries(
    cacheNames(c).map((name) => [name, new Float32Array(slots * c.kvHeads * places * c.headWidth)]),
  ),
});

/** Bytes of the keys and values of this many tokens. */
export const bytesOfTokens = (c: DecoderConfig, tokens: number): number =>
  4 * 2 * c.layers * c.kvHeads * c.headWidth * tokens;

/** Arrays of slots with this many places each. */
export interface Part {
  readonly arrays: Readonly<Record<string, Float32Array>>;
  readonly places: number;
}

/** Copies rows from one set of arrays to another. Within one set, every row must move to a lower slot. */
export function copyRows(c: DecoderConfig, from: Part, to: Part, moves: readonly Move[]): void {
  const width = c.headWidth;
  for (const name of cacheNames(c)) {
    const source = from.arrays[name]!;
    const target = to.arrays[name]!;
    for (const { from: slot, to: other, length, fromPlace = 0, toPlace = 0 } of moves) {
      for (let h = 0; h < c.kvHeads; h++) {
        const start = ((slot * c.kvHeads + h) * from.places + fromPlace) * width;
        const at = ((other * c.kvHeads + h) * to.places + toPlace) * width;
        target.set(source.subarray(start, start + length * width), at);
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
  const arrays = Object.fromEntries(cacheNames(c).map((name) => [name, array(cache.arrays[name]!)]));
  const needed = inPlace ? moves.filter((m) => m.from !== m.to) : moves;
  copyRows(c, cache, { arrays, places }, needed);
  return { slots, places, arrays };
}
