/** Assigns predicted items to references: one to one, or in shares. */

/**
 * The one-to-one assignment with the largest total similarity (Hungarian method, O(n³)). Pairs of similarity 0 stay
 * unmatched; of equal rows the earlier one is matched.
 * @param similarity of row p and column g, ≥ 0.
 * @returns for each row its column, or −1.
 */
export function assigned(similarity: readonly (readonly number[])[]): Int32Array {
  const rows = similarity.length;
  const columns = similarity[0]?.length ?? 0;
  const n = Math.max(rows, columns);
  // minimises the cost of a square matrix; padding costs 0, and later rows cost slightly more to break ties
  const cost = (p: number, g: number): number => {
    const s = similarity[p]?.[g] ?? 0;
    return s > 0 ? -s + 1e-9 * p : 0;
  };
  const potentialOfRow = new Float64Array(n + 1);
  const potentialOfColumn = new Float64Array(n + 1);
  const rowOf = new Int32Array(n + 1); // 1-based; column 0 holds the row that is being placed
  for (let row = 1; row <= n; row++) {
    rowOf[0] = row;
    const least = new Float64Array(n + 1).fill(Number.POSITIVE_INFINITY);
    const cameFrom = new Int32Array(n + 1);
    const seen = new Uint8Array(n + 1);
    let column = 0;
    while (rowOf[column] !== 0) {
      seen[column] = 1;
      const from = rowOf[column]!;
      let delta = Number.POSITIVE_INFINITY;
      let next = 0;
      for (let c = 1; c <= n; c++) {
        if (seen[c]) continue;
        const reduced = cost(from - 1, c - 1) - potentialOfRow[from]! - potentialOfColumn[c]!;
        if (reduced < least[c]!) {
          least[c] = reduced;
          cameFrom[c] = column;
        }
        if (least[c]! < delta) {
          delta = least[c]!;
          next = c;
        }
      }
      for (let c = 0; c <= n; c++) {
        if (seen[c]) {
          potentialOfRow[rowOf[c]!]! += delta;
          potentialOfColumn[c]! -= delta;
        } else least[c]! -= delta;
      }
      column = next;
    }
    for (; column !== 0; column = cameFrom[column]!) rowOf[column] = rowOf[cameFrom[column]!]!;
  }
  const out = new Int32Array(rows).fill(-1);
  for (let c = 1; c <= columns; c++) {
    const p = rowOf[c]! - 1;
    if ((similarity[p]?.[c - 1] ?? 0) > 0) out[p] = c - 1;
  }
  return out;
}

/**
 * Entropic optimal transport between rows and columns of equal weight (Sinkhorn's iterations): the plan T with row sums
 * 1/rows and column sums 1/columns that minimises Σ T (−similarity) − regularisation · entropy(T).
 * @returns the plan, [rows][columns]; empty without rows or columns.
 */
export function transported(
  similarity: readonly (readonly number[])[],
  regularisation: number,
): readonly Float64Array[] {
  const rows = similarity.length;
  const columns = similarity[0]?.length ?? 0;
  if (columns === 0) return [];
  const kernel = similarity.map((of) => Float64Array.from(of, (s) => Math.exp(s / regularisation)));
  const u = new Float64Array(rows).fill(1);
  const v = new Float64Array(columns).fill(1);
  for (let i = 0; i < 200; i++) {
    kernel.forEach((of, p) => {
      u[p] = 1 / rows / of.reduce((sum, k, g) => sum + k * v[g]!, 0);
    });
    v.forEach((_, g) => {
      v[g] = 1 / columns / kernel.reduce((sum, of, p) => sum + of[g]! * u[p]!, 0);
    });
  }
  return kernel.map((of, p) => of.map((k, g) => u[p]! * k * v[g]!));
}
