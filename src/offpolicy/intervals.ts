/** Confidence intervals of off-policy estimates. */
import { mean, studentQuantile } from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import type { Id } from "../core/types.ts";
import { lowerBound } from "./betting.ts";
import { clusterMeans, clusterSums, effectiveNumber } from "./clusters.ts";
import type { EstimatorOptions } from "./estimator.ts";
import { discountedReturn, type Sample, trajectoryWeight } from "./sample.ts";
import { unskewed } from "./unskewed.ts";
import type { PointEstimate } from "./weightedMean.ts";

/** Cluster-robust standard error √(G / (G − 1) Σ_g (Σ_{i in g} influence_i)²) / n over G clusters. */
export function standardError(estimate: PointEstimate, clusters: readonly Id[]): number {
  const sums = clusterSums(clusters, estimate.influence);
  const squares = sums.reduce((so, x) => so + x * x, 0);
  return Math.sqrt((sums.length / (sums.length - 1)) * squares) / clusters.length;
}

/**
 * Value ± standard errors, {@link unskewed} by the skewness of the cluster influences; without skewness it is Student's
 * interval. The degrees of freedom are the effective number of clusters minus 1, since few heavy clusters say little of
 * their own variance. Its coverage is nominal for skewed rewards, where that of Student's interval is not and a
 * bootstrap-t is no better (bench/coverage.ts).
 */
export function clusterInterval(
  samples: readonly Sample[],
  estimate: PointEstimate,
  confidence = 0.95,
): Interval {
  const clusters = samples.map((s) => s.cluster);
  const effective = effectiveNumber(clusterSums(clusters, samples.map(trajectoryWeight)));
  const { value } = estimate;
  const n = samples.length;
  if (!(effective > 1)) {
    return { mean: value, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY, n };
  }
  const sums = clusterSums(clusters, estimate.influence);
  const count = sums.length;
  const error = standardError(estimate, clusters);
  const spread = Math.sqrt(sums.reduce((so, u) => so + u * u, 0) / count);
  const skewness = spread > 0 ? sums.reduce((so, u) => so + u ** 3, 0) / count / spread ** 3 : 0;
  const a = skewness / Math.sqrt(count);
  const t = studentQuantile((1 + confidence) / 2, Math.max(1, effective - 1));
  return { mean: value, low: value - error * unskewed(t, a), high: value - error * unskewed(-t, a), n };
}

/**
 * Conservative interval for returns that are known to lie in `range`: betting bounds on W (G − low) for the lower end and
 * on W (high − G) for the upper end. Both are ≥ 0, and their means under the logging policy are at most V − low and
 * high − V, so that the interval also holds with extreme weights, few clusters, or target behaviour that was never logged
 * ("Off-policy Confidence Sequences"). Several trajectories of a cluster are averaged: the value is then that of the
 * average cluster.
 */
export function boundedInterval(
  samples: readonly Sample[],
  range: readonly [low: number, high: number],
  { confidence = 0.95, discount = 1 }: EstimatorOptions & { readonly confidence?: number } = {},
): Interval {
  const [low, high] = range;
  const width = high - low;
  const clusters = samples.map((s) => s.cluster);
  const bound = (scaled: (sample: Sample) => number): number => {
    const xs = clusterMeans(
      clusters,
      samples.map((s) => trajectoryWeight(s) * scaled(s)),
    );
    return Math.min(1, lowerBound(xs, (1 - confidence) / 2, xs.length));
  };
  const returned = (s: Sample): number => (discountedReturn(s.rewards, discount) - low) / width;
  const least = bound((s) => Math.max(0, returned(s)));
  const most = 1 - bound((s) => Math.max(0, 1 - returned(s)));
  const value = mean(
    clusterMeans(
      clusters,
      samples.map((s) => trajectoryWeight(s) * returned(s)),
    ),
  );
  return {
    mean: low + width * Math.min(Math.max(least, most), Math.max(Math.min(least, most), value)),
    low: low + width * Math.min(least, most),
    high: low + width * Math.max(least, most),
    n: samples.length,
  };
}
