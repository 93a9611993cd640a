/**
 * The induced Bayesian network of preference data: replies are nodes, comparisons and similarity are edges.
 * Paper: "Reward Generalization in RLHF: A Topological Perspective".
 */

/** Evidence about the difference of two rewards: a Gaussian observation with this variance. */
export interface EvidenceEdge {
  readonly from: number;
  readonly to: number;
  /** Above 0. */
  readonly variance: number;
}

/**
 * The posterior variance of r(b) − r(a) under a flat prior, for every pair of `count` nodes: the effective resistance of a network whose
 * resistances are the variances. Variances add along a path, and parallel paths combine as 1 / Σ (1 / variance):
 *
 *     d(a, b) = (e_a − e_b)ᵀ L⁺ (e_a − e_b)          L = Σ_edges (e_i − e_j)(e_i − e_j)ᵀ / variance
 *
 * Infinite between nodes that no path connects.
 * @returns d[a][b], symmetric, 0 on the diagonal.
 */
export function inferenceDistances(count: number, edges: readonly EvidenceEdge[]): Float64Array[] {
  const component = componentsOf(count, edges);
  const precision = Array.from({ length: count }, () => new Float64Array(count));
  for (const { from, to, variance } of edges) {
    const certainty = 1 / variance;
    precision[from]![from]! += certainty;
    precision[to]![to]! += certainty;
    precision[from]![to]! -= certainty;
    precision[to]![from]! -= certainty;
  }
  // fixes one node of each component at reward 0; differences within a component do not depend on it
  component.forEach((root, i) => {
    if (root === i) precision[i]![i]! += 1;
  });
  const covariance = inverse(precision);
  return covariance.map((row, a) =>
    row.map((_, b) =>
      component[a] === component[b]
        ? Math.max(0, covariance[a]![a]! + covariance[b]![b]! - 2 * covariance[a]![b]!)
        : Number.POSITIVE_INFINITY,
    ),
  );
}

/** Mean of d over all pairs of the first `replies` nodes; infinite where no path connects some of them. */
export function meanInferenceDistance(
  count: number,
  edges: readonly EvidenceEdge[],
  replies: number = count,
): number {
  const distances = inferenceDistances(count, edges).slice(0, replies);
  const sum = distances.reduce((total, row) => total + row.slice(0, replies).reduce((a, b) => a + b, 0), 0);
  return sum / (replies * (replies - 1));
}

/** Smallest node of each node's component. */
function componentsOf(count: number, edges: readonly EvidenceEdge[]): number[] {
  const component = Array.from({ length: count }, (_, i) => i);
  for (let changed = true; changed; ) {
    changed = false;
    for (const { from, to } of edges) {
      const least = Math.min(component[from]!, component[to]!);
      if (component[from] === least && component[to] === least) continue;
      component[from] = least;
      component[to] = least;
      changed = true;
    }
  }
  return component;
}

/** Inverse of a symmetric positive definite matrix, by Gauss–Jordan elimination on its diagonal. */
function inverse(matrix: readonly Float64Array[]): Float64Array[] {
  const n = matrix.length;
  const a = matrix.map((row) => Float64Array.from(row));
  const out = a.map((_, i) => Float64Array.from({ length: n }, (_unused, j) => Number(i === j)));
  for (let k = 0; k < n; k++) {
    const pivot = a[k]![k]!;
    for (let j = 0; j < n; j++) {
      a[k]![j]! /= pivot;
      out[k]![j]! /= pivot;
    }
    for (let i = 0; i < n; i++) {
      const factor = a[i]![k]!;
      if (i === k || factor === 0) continue;
      for (let j = 0; j < n; j++) {
        a[i]![j]! -= factor * a[k]![j]!;
        out[i]![j]! -= factor * out[k]![j]!;
      }
    }
  }
  return out;
}
