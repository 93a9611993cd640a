/** How a sum over tokens becomes a loss: said aloud in every objective. */
import { type Batch, rowCount } from "../core/batch.ts";

/**
 * - "tokens": the mean over all tokens of the batch; long rows weigh more.
 * - "rows": the mean over rows of each row's mean; every row weighs the same, its tokens less the longer it is.
 * - { constant }: the sum divided by rows × constant; no token's weight depends on any length.
 */
export type Normaliser = "tokens" | "rows" | { readonly constant: number };

/** Whole-batch counts that parts of it are scaled by. */
export interface Totals {
  /** Sum of the weights that count. */
  readonly tokens: number;
  /** Rows with any weight that counts. */
  readonly rows: number;
}

/** Which tokens train: those with a weight, without the ones that `counts` refuses. */
export function totalsOf(batch: Batch, counts: (a: number) => boolean = () => true): Totals {
  let tokens = 0;
  let rows = 0;
  for (let r = 0; r < rowCount(batch); r++) {
    let own = 0;
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++)
      if (counts(a)) own += batch.weight_A[a]!;
    tokens += own;
    if (own > 0) rows++;
  }
  return { tokens, rows };
}

/**
 * What each token's loss is multiplied by: its weight over the normaliser, 0 where it does not count.
 * @param totals of the whole batch, so that parts add up.
 * @returns shape [A].
 */
export function scales(
  batch: Batch,
  normaliser: Normaliser,
  totals: Totals,
  counts: (a: number) => boolean = () => true,
): Float64Array {
  const out_A = new Float64Array(batch.target_A.length);
  for (let r = 0; r < rowCount(batch); r++) {
    const from = batch.targetOffset[r]!;
    const to = batch.targetOffset[r + 1]!;
    let own = 0;
    for (let a = from; a < to; a++) if (counts(a)) own += batch.weight_A[a]!;
    if (own === 0) continue;
    const divisor = divisorOf(normaliser, totals, own);
    for (let a = from; a < to; a++) if (counts(a)) out_A[a] = batch.weight_A[a]! / divisor;
  }
  return out_A;
}

function divisorOf(normaliser: Normaliser, totals: Totals, own: number): number {
  if (normaliser === "tokens") return totals.tokens;
  if (normaliser === "rows") return totals.rows * own;
  return totals.rows * normaliser.constant;
}

/** Groups in which no token has an advantage: they teach nothing. */
export function deadGroupsOf(batch: Batch): ReadonlySet<string> {
  const dead = new Set(batch.rows.map((row) => row.group));
  batch.rows.forEach((row, r) => {
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      if (batch.advantage_A[a] !== 0) dead.delete(row.group);
    }
  });
  return dead;
}

/** Row of each target, [A]. */
export function rowOfTarget(batch: Batch): Int32Array {
  const out_A = new Int32Array(batch.target_A.length);
  for (let r = 0; r < rowCount(batch); r++) out_A.fill(r, batch.targetOffset[r]!, batch.targetOffset[r + 1]!);
  return out_A;
}
