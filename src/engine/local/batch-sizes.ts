/**
 * How many rows a batch may be padded to without changing a bit of any row.
 *
 * ONNX Runtime's CPU product (MLAS, `MlasGemmBatch` in sgemm.cpp) hands each thread a range of rows or of columns, and
 * cuts the sum over K into blocks whose length depends on how many columns a thread got. Both depend on the number of
 * rows, so two batch sizes give a row the same bits only where all their products are cut alike. The arithmetic of
 * that cut is repeated here, and only sizes that agree are used.
 */
import type { DecoderConfig } from "./config.ts";

/** Fewer than eight rows would take other code paths. */
const sizes = [8, 16, 32, 64, 128] as const;
/** Up to here the cut is as described, whatever the processor. */
export const mostThreads = 16;

interface Product {
  readonly M: number;
  readonly N: number;
  readonly K: number;
  /** Products of this shape in one call. */
  readonly batch?: number;
}

/** Length of the blocks that the sum over K is cut into where a thread has N columns. */
function blockLength(N: number, K: number): number {
  let columns = 128;
  let length = 128;
  if (N >= K) {
    while (length / 2 >= K) {
      columns *= 2;
      length /= 2;
    }
  } else {
    while (columns > 16 && columns / 2 >= N) {
      columns /= 2;
      length *= 2;
    }
  }
  return Math.min(length, K);
}

/** How a product is cut: equal texts, equal bits of a row. */
export function cutOf({ M, N, K, batch = 1 }: Product, threads: number): string {
  const wanted = Math.min(threads, Math.floor((M * N * K) / 65_536) + 1);
  const each = Math.ceil(wanted / batch);
  const panels = Math.ceil(N / 16);
  if (N <= M) {
    // a thread with a single row takes the matrix–vector path
    const single = Math.floor(M / Math.min(each, M)) === 1 ? " single" : "";
    return `${Array(panels).fill(blockLength(N, K))}${single}`;
  }
  const ranges = Math.min(each, panels);
  const cut: number[] = [];
  for (let range = 0; range < ranges; range++) {
    const count = Math.floor(panels / ranges) + (range < panels % ranges ? 1 : 0);
    const columns = Math.min(count * 16, N - cut.length * 16);
    for (let panel = 0; panel < count; panel++) cut.push(blockLength(columns, K));
  }
  return `${cut}`;
}

/** Products over the rows of a layer, and of the output over `read` rows. */
function layerProducts(c: DecoderConfig, rows: number, read: number): Product[] {
  const q = c.heads * c.headWidth;
  const kv = c.kvHeads * c.headWidth;
  return [
    { M: rows, N: q, K: c.width },
    { M: rows, N: kv, K: c.width },
    { M: rows, N: c.width, K: q },
    { M: rows, N: c.feedForward, K: c.width },
    { M: rows, N: c.width, K: c.feedForward },
    { M: read, N: c.vocabulary, K: c.width },
  ];
}

function attentionProducts(c: DecoderConfig, B: number, queries: number, places: number): Product[] {
  const M = (c.heads / c.kvHeads) * queries;
  const batch = B * c.kvHeads;
  return [
    { M, N: places, K: c.headWidth, batch },
    { M, N: c.headWidth, K: places, batch },
  ];
}

/** The sizes that agree with most others, the larger ones where two sets are equally large. Ascending. */
function agreeing(products: (B: number) => readonly Product[], threads: number): number[] {
  const byCut = Map.groupBy(sizes, (B) =>
    products(B)
      .map((p) => cutOf(p, threads))
      .join("; "),
  );
  return [...byCut.values()].reduce((best, set) => (set.length >= best.length ? set : best));
}

/** Row counts of a decoding batch over caches of S places. */
export const decodeSizes = (c: DecoderConfig, S: number, threads: number): readonly number[] =>
  agreeing((B) => [...layerProducts(c, B, B), ...attentionProducts(c, B, 1, S)], threads);

/** Row counts of a prefill batch of prompts padded to T tokens. */
export const prefillSizes = (c: DecoderConfig, T: number, threads: number): readonly number[] =>
  agreeing((B) => [...layerProducts(c, B * T, B), ...attentionProducts(c, B, T, T)], threads);
