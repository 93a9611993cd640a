/** Least squares with errors that hold for observations that depend on each other within a cluster. */

export interface Fitted {
  readonly coefficients: readonly number[];
  /** Standard errors, by leaving out one cluster at a time. */
  readonly errors: readonly number[];
  readonly clusters: number;
}

/**
 * Coefficients b of y = X b, without a column of ones of its own. The variance is the jackknife's over clusters (CR3):
 *
 *     (G − 1) / G · Σ_g (b without g − b)²
 *
 * which needs neither equal variances nor independence within a cluster, and errs on the wide side for few clusters.
 * @param rows one row of X an observation. @param clusters the cluster of each observation.
 * @returns undefined where the columns depend on each other, or would without one of the clusters.
 */
export function clusteredLeastSquares(
  rows: readonly (readonly number[])[],
  ys: readonly number[],
  clusters: readonly string[],
): Fitted | undefined {
  const K = rows[0]?.length ?? 0;
  const size = K * K + K;
  const all = new Float64Array(size);
  const own = new Map<string, Float64Array>();
  rows.forEach((row, i) => {
    const sums = own.get(clusters[i]!) ?? new Float64Array(size);
    own.set(clusters[i]!, sums);
    for (let j = 0; j < K; j++) {
      for (let k = 0; k < K; k++) add(j * K + k, row[j]! * row[k]!);
      add(K * K + j, row[j]! * ys[i]!);
    }
    function add(at: number, x: number): void {
      sums[at]! += x;
      all[at]! += x;
    }
  });
  const G = own.size;
  const coefficients = solved(all, K, all);
  if (!coefficients || G < 2) return undefined;
  const squares = new Array<number>(K).fill(0);
  for (const sums of own.values()) {
    const without = solved(
      all.map((x, at) => x - sums[at]!),
      K,
      all,
    );
    if (!without) return undefined;
    for (let k = 0; k < K; k++) squares[k]! += (without[k]! - coefficients[k]!) ** 2;
  }
  return { coefficients, errors: squares.map((square) => Math.sqrt(((G - 1) / G) * square)), clusters: G };
}

/** Least part of a column's square that the columns before it must leave unexplained. */
const leastPivot = 1e-9;

/** Solves the normal equations, XᵀX in front of Xᵀy, by Cholesky. @param scale has the size of the columns on its diagonal. */
function solved(sums: Float64Array, K: number, scale: Float64Array): number[] | undefined {
  const L = new Float64Array(K * K);
  for (let j = 0; j < K; j++) {
    for (let k = 0; k <= j; k++) {
      let sum = sums[j * K + k]!;
      for (let m = 0; m < k; m++) sum -= L[j * K + m]! * L[k * K + m]!;
      if (j > k) L[j * K + k] = sum / L[k * K + k]!;
      else if (sum > leastPivot * scale[j * K + j]!) L[j * K + j] = Math.sqrt(sum);
      else return undefined;
    }
  }
  const out = Array.from(sums.subarray(K * K));
  for (let j = 0; j < K; j++) {
    for (let k = 0; k < j; k++) out[j]! -= L[j * K + k]! * out[k]!;
    out[j]! /= L[j * K + j]!;
  }
  for (let j = K - 1; j >= 0; j--) {
    for (let k = j + 1; k < K; k++) out[j]! -= L[k * K + j]! * out[k]!;
    out[j]! /= L[j * K + j]!;
  }
  return out;
}
