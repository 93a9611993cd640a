/** Normalisers: how a sum over tokens becomes a loss. Every objective states its own. */
import { type Batch, rowCount } from "../core/batch.ts";
import type { Id } from "../core/types.ts";

/**
 * - "tokens": the mean over all tokens of the batch; long rows weigh more.
 * - "rows": the mean over rows of each row's mean; all rows weigh the same, so tokens of longer rows weigh less.
 * - "trajectories": the mean over trajectories of the mean over all tokens of each, whatever rows they are cut into.
 * - { constant }: the sum divided by rows × constant; no token's weight depends on any length.
 */
export type Normaliser = "tokens" | "rows" | "trajectories" | { readonly constant: number };

/** Counts over the whole batch, which scale its parts. */
export interface Totals {
  /** Sum of the weights of counted tokens. */
  readonly tokens: number;
  /** Number of rows with a counted token. */
  readonly rows: number;
  /** Sum of the weights of counted tokens, by trajectory. */
  readonly trajectories: ReadonlyMap<Id, number>;
}

/** Totals over tokens with a weight for which `counts` is true. */
export function totalsOf(batch: Batch, counts: (a: number) => boolean = () => true): Totals {
  let tokens = 0;
  let rows = 0;
  const trajectories = new Map<Id, number>();
  for (let r = 0; r < rowCount(batch); r++) {
    let own = 0;
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++)
      if (counts(a)) own += batch.weight_A[a]!;
    tokens += own;
    if (own === 0) continue;
    rows++;
    const { trajectory } = batch.rows[r]!;
    trajectories.set(trajectory, (trajectories.get(trajectory) ?? 0) + own);
  }
  return { tokens, rows, trajectories };
}

/**
 * The factor of each token's loss: its weight over the normaliser, 0 where it does not count.
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
    const whole =
      normaliser === "trajectories" ? (totals.trajectories.get(batch.rows[r]!.trajectory) ?? own) : own;
    const divisor = divisorOf(normaliser, totals, whole);
    for (let a = from; a < to; a++) if (counts(a)) out_A[a] = batch.weight_A[a]! / divisor;
  }
  return out_A;
}

function divisorOf(normaliser: Normaliser, totals: Totals, own: number): number {
  if (normaliser === "tokens") return totals.tokens;
  if (normaliser === "rows") return totals.rows * own;
  if (normaliser === "trajectories") return totals.trajectories.size * own;
  return totals.rows * normaliser.constant;
}

/** Groups in which every advantage is 0, so that they give no gradient. */
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
