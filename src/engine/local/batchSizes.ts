/**
 * Sizes of batches, prompts and caches. Each shape needs its own compiled program, so there are few shapes. The shape
 * that a request runs in must not change a single bit of its result.
 *
 * A matrix product over the rows of a batch is safe because it is computed in tiles (see `CompileOptions.rowTile`).
 * ONNX Runtime's CPU product (MLAS, `MlasGemmBatch` in sgemm.cpp) splits its sums into blocks whose length depends on
 * the number of columns per thread; with a tile as the second factor, this number takes only a few values. Threads split
 * the rows of the weights, which no sum runs over. (One exception: where a matrix has fewer rows than twice the threads, and
 * thousands of columns, a thread may be left with one row, which takes another code path. Of an adapter of rank 16 this can show from
 * 9 threads on, between batches of at most 16 rows and larger ones.) Attention is computed
 * head by head, and masked cache positions add exact zeros to its sums.
 */

/** Rows of a tile: the number of columns that the CPU's product kernel processes at once. */
export const rowTile = 16;

/**
 * Rows that the CPU computes where a tile is not needed: where the weights are larger than the caches of the processor, that takes
 * three quarters of a tile's time. One row alone would take other code, whose sums have other bits.
 */
const fewRows = [2, 4] as const;

/** The smallest of these sizes that has room for n. */
const fewest = (n: number): number | undefined => fewRows.find((size) => size >= n);

/** Upper limit of an engine's threads within an operator. */
export const mostThreads = 16;

/** Rows of a decoding batch: whole tiles, and an even number of them, so that two threads get equal shares. */
const decodeSizes = [16, 32, 64, 96, 128] as const;
/** Maximum number of rows that decode together. */
export const mostRows = 128;

/** Number of prompts that are prefilled together. */
const prefillSizes = [1, 2, 4, 8, 16, 32, 64] as const;
/** Tokens of one prefill, padding included. Bounds its memory. */
const prefillTokens = 4096;

export const roundUp = (n: number, step: number): number => Math.ceil(n / step) * step;

/** n rounded up to step × 1, 2, 3, 4, 6, 8, 12, 16, 24 … */
function rounded(n: number, step: number): number {
  const steps = Math.ceil(n / step);
  const octave = 2 ** Math.ceil(Math.log2(steps));
  return step * (steps > 2 && steps <= (octave * 3) / 4 ? (octave * 3) / 4 : octave);
}

/** Padded length of a prompt. It depends on the prompt's length alone, since another padding may change bits. */
export const promptPlaces = (length: number): number => rounded(length, 32);

/** Cache positions of a batch whose longest row has `length` tokens. */
export const cachePlaces = (length: number): number => rounded(length, 32);

/** The same where rows come and go all day: fewer sizes, so that fewer programs are compiled while people wait. */
export const servingPlaces = (length: number): number => rounded(length, 256);

/** Tokens of a prompt that are kept, and found again, together. */
export const blockTokens = 32;
/** Tokens of a prompt that are read in one pass; rows that decode wait for it. A rest is read block by block. */
const pieceTokens = 4 * blockTokens;
/** Tokens, padding included, of the next pass over a prompt of which `left` tokens are not read. */
export const piecePlaces = (left: number): number => (left >= pieceTokens ? pieceTokens : blockTokens);

/** Cache slots for this number of rows, on a GPU. */
export const decodeRows = (rows: number): number => decodeSizes.find((size) => size >= rows) ?? mostRows;

/** The same on the CPU. */
export const cpuDecodeRows = (rows: number): number => fewest(rows) ?? decodeRows(rows);

/** How many positions the CPU scores for n prompts that are read together. */
export const scoredRows = (n: number): number => fewest(n) ?? roundUp(n, rowTile);

/** How many of n prompts of T positions to prefill next (`taken`), and the batch size of the program for it (`B`). */
export function prefillRows(n: number, T: number): { readonly taken: number; readonly B: number } {
  const most = Math.max(1, Math.floor(prefillTokens / T));
  const fits = prefillSizes.filter((size) => size <= most);
  const B = fits.find((size) => size >= n) ?? fits.at(-1)!;
  return { taken: Math.min(n, B), B };
}
