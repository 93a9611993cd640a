/** How a batch is cut into padded micro-batches of a few fixed shapes, so that sessions are reused. */
import { rowCount, type TokenRows } from "../../core/batch.ts";
import type { PaddedRows } from "./protocol.ts";

/** Sequence lengths are rounded up to these. */
const bucket = (length: number): number =>
  length <= 128
    ? Math.ceil(length / 16) * 16
    : length <= 512
      ? Math.ceil(length / 64) * 64
      : Math.ceil(length / 256) * 256;

/** Row counts are rounded up to these. */
function batchRows(rows: number): number {
  const step = rows <= 32 ? 8 : 16;
  return Math.ceil(rows / step) * step;
}

/** What one more run of a session costs beside its tokens, in tokens. */
const runCost = 256;

const lengthOf = (rows: TokenRows, r: number): number => rows.rowOffset[r + 1]! - rows.rowOffset[r]!;

/**
 * Lists of row indices. Rows of like length come together, groups stay whole, and a micro-batch holds at most
 * `tokens` tokens with its padding unless one group alone is larger.
 * @param groups rows that must stay together.
 */
export function planMicroBatches(
  rows: TokenRows,
  groups: readonly (readonly number[])[],
  tokens: number,
): number[][] {
  const longest = (group: readonly number[]): number =>
    bucket(Math.max(...group.map((r) => lengthOf(rows, r))));
  const sorted = groups
    .map((group, order) => ({ group, order, T: longest(group) }))
    .sort((a, b) => a.T - b.T || a.order - b.order);
  const out: number[][] = [];
  let open: number[] = [];
  let openT = 0;
  for (const { group, T } of sorted) {
    const isFull = batchRows(open.length + group.length) * T > tokens;
    // padding short rows to the next length costs more than another run of a session
    const isWasteful = open.length * (T - openT) > runCost;
    if (open.length > 0 && (isFull || isWasteful)) {
      out.push(open);
      open = [];
    }
    open.push(...group);
    openT = T;
  }
  if (open.length > 0) out.push(open);
  return out;
}

/** Pads packed rows on the right to one of the fixed shapes. */
export function pad(rows: TokenRows, padId: number): PaddedRows {
  const R = rowCount(rows);
  let longest = 0;
  for (let r = 0; r < R; r++) longest = Math.max(longest, lengthOf(rows, r));
  const T = bucket(longest);
  const B = batchRows(R);
  const real = rows.target_A.length;
  const A = [8, 4, 2].map((part) => Math.ceil((B * T) / part)).find((n) => n >= Math.max(2, real)) ?? B * T;
  const tokens = new Int32Array(B * T).fill(padId);
  const context = new Int32Array(A);
  const targets = new Int32Array(A);
  for (let r = 0; r < R; r++) {
    const from = rows.rowOffset[r]!;
    tokens.set(rows.tokens_N.subarray(from, rows.rowOffset[r + 1]!), r * T);
    for (let a = rows.targetOffset[r]!; a < rows.targetOffset[r + 1]!; a++) {
      const p = rows.target_A[a]!;
      context[a] = r * T + (p - from) - 1;
      targets[a] = rows.tokens_N[p]!;
    }
  }
  return { B, T, A, tokens, context, targets };
}
