/**
 * Sizes of batches, prompts and caches. Each shape is a program of its own, so there are few; and which one a request
 * meets must not change a bit of its result.
 *
 * A product over the rows of a batch is safe because it is computed in tiles (see `CompileOptions.rowTile`): ONNX
 * Runtime's CPU product (MLAS, `MlasGemmBatch` in sgemm.cpp) cuts its sums into blocks whose length depends on how many
 * columns a thread has, and with a tile as the second factor these are always the same few; threads part the rows of
 * the weights, which no sum runs over. (An exception that no sensible model meets: with as many threads as a matrix has
 * rows, and 4,096 columns or more, a thread may be left with one row, which takes another path.) Attention goes head by head,
 * and places of a cache that are not seen add exact zeros to its sums.
 */

/** Rows of a tile: what the processor's product kernel takes as columns at once. */
export const rowTile = 16;

/** An engine has at most so many threads within an operator. */
export const mostThreads = 16;

/** Rows of a decoding batch; whole tiles, and an even number of them so that two threads share them fairly. */
const decodeSizes = [16, 32, 64, 96, 128] as const;
/** Most rows that decode together. */
export const mostRows = 128;

/** Prompts that are read together. */
const prefillSizes = [1, 2, 4, 8, 16, 32, 64] as const;
/** Bounds the memory of reading prompts, padding included. */
const prefillTokens = 4096;

export const roundUp = (n: number, step: number): number => Math.ceil(n / step) * step;

/** n rounded up to step × 1, 2, 3, 4, 6, 8, 12, 16, 24 … */
function rounded(n: number, step: number): number {
  const steps = Math.ceil(n / step);
  const octave = 2 ** Math.ceil(Math.log2(steps));
  return step * (steps > 2 && steps <= (octave * 3) / 4 ? (octave * 3) / 4 : octave);
}

/** Tokens that a prompt is padded to: from its own length alone, since reading shorter or longer may change bits. */
export const promptPlaces = (length: number): number => rounded(length, 32);

/** Places of the cache of a batch whose longest row has so many tokens. */
export const cachePlaces = (length: number): number => rounded(length, 32);

/** Slots for so many rows. */
export const decodeRows = (rows: number): number => decodeSizes.find((size) => size >= rows) ?? mostRows;

/** How many of n prompts of T places are read next, and the number that the program is made for. */
export function prefillRows(n: number, T: number): { readonly taken: number; readonly B: number } {
  const most = Math.max(1, Math.floor(prefillTokens / T));
  const fits = prefillSizes.filter((size) => size <= most);
  const B = fits.find((size) => size >= n) ?? fits.at(-1)!;
  return { taken: Math.min(n, B), B };
}
