/** Clusters: trajectories of one user are not independent of each other. */
import type { Id } from "../core/types.ts";

/** Σ of xs within each cluster, in order of first appearance. */
export function clusterSums(clusters: readonly Id[], xs: ArrayLike<number>): Float64Array {
  const sums = new Map<Id, number>();
  clusters.forEach((cluster, i) => {
    sums.set(cluster, (sums.get(cluster) ?? 0) + xs[i]!);
  });
  return Float64Array.from(sums.values());
}

/** Mean of xs within each cluster, in order of first appearance. */
export function clusterMeans(clusters: readonly Id[], xs: ArrayLike<number>): Float64Array {
  const sums = clusterSums(clusters, xs);
  const sizes = clusterSums(clusters, new Float64Array(clusters.length).fill(1));
  return sums.map((sum, g) => sum / sizes[g]!);
}

/** Effective sample size (Σ x)² / Σ x²: the number of equal values with the same weight; 0 if all are 0. */
export function effectiveNumber(xs: ArrayLike<number>): number {
  let [sum, squares] = [0, 0];
  for (let i = 0; i < xs.length; i++) {
    sum += xs[i]!;
    squares += xs[i]! ** 2;
  }
  return squares > 0 ? sum ** 2 / squares : 0;
}
