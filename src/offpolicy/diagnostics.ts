/** Diagnostics of an off-policy estimate: whether to trust it. */
import { mean, standardDeviation, studentCdf } from "../common/statistics/statistics.ts";
import { clusterSums, effectiveNumber } from "./clusters.ts";
import { paretoTail } from "./paretoTail.ts";
import { discountedReturn, type Sample, trajectoryWeight } from "./sample.ts";
import { type PointEstimate, weightedMean } from "./weightedMean.ts";

/** Diagnostics of the trajectory weights, summed by cluster. */
export interface Diagnostics {
  readonly trajectories: number;
  readonly clusters: number;
  /** Effective number of clusters (Kish): (Σ W)² / Σ W². */
  readonly effective: number;
  /**
   * The same for the contributions to the variance: (Σ u²)² / Σ u⁴, where u is a cluster's influence on the estimate, or on
   * the weighted mean return if that is lower: a reward model must not hide that few trajectories have rewards.
   */
  readonly effectiveSpread: number;
  /** Mean weight of a trajectory. Its expectation is 1 if the propensities are right and every target action may be logged. */
  readonly meanWeight: number;
  /** Two-sided p-value of the mean weight against 1. */
  readonly meanWeightP: number;
  /** max(0, 1 − mean weight): estimated share of the target's behaviour that was never logged. */
  readonly unsupported: number;
  /** Share of the total weight on the heaviest cluster, and the smallest number of clusters with half of it. */
  readonly heaviest: number;
  readonly half: number;
  /** Pareto k of the largest weights; −∞ if they are equal. Absent below 25 clusters. */
  readonly tail?: number;
}

/**
 * Measures whether few trajectories dominate an estimate, and whether the weights are plausible. See {@link doubts} for
 * what that means.
 */
export function diagnose(samples: readonly Sample[], estimate: PointEstimate): Diagnostics {
  const clusters = samples.map((s) => s.cluster);
  const perTrajectory = samples.map(trajectoryWeight);
  const weights = clusterSums(clusters, perTrajectory);
  const squares = (influence: Float64Array): Float64Array =>
    clusterSums(clusters, influence).map((u) => u * u);
  const returns = weightedMean(
    perTrajectory,
    samples.map((s) => discountedReturn(s.rewards)),
  );
  const n = samples.length;
  const groups = weights.length;
  const total = weights.reduce((a, b) => a + b, 0);
  const meanWeight = mean(perTrajectory);
  const off = clusterSums(
    clusters,
    perTrajectory.map((w) => w - 1),
  );
  const error = (Math.sqrt(groups) * standardDeviation(off)) / n;
  const t = (meanWeight - 1) / error;
  const falling = Float64Array.from(weights).sort().reverse();
  let [half, carried] = [0, 0];
  while (half < groups && carried < total / 2) carried += falling[half++]!;
  const tail = paretoTail(weights);
  return {
    trajectories: n,
    clusters: groups,
    effective: effectiveNumber(weights),
    effectiveSpread: Math.min(...[estimate, returns].map((e) => effectiveNumber(squares(e.influence)))),
    meanWeight,
    meanWeightP: meanWeight === 1 || !(groups > 1) ? 1 : 2 * studentCdf(-Math.abs(t), groups - 1),
    unsupported: Math.max(0, 1 - meanWeight),
    heaviest: total > 0 ? falling[0]! / total : 0,
    half,
    ...(tail === undefined ? {} : { tail }),
  };
}

/** Thresholds for a trustworthy estimate, chosen by the coverage of the intervals (bench/coverage.ts). */
export const trust = {
  effective: 30,
  effectiveSpread: 10,
  heaviest: 0.1,
  tail: 0.5,
  meanWeightP: 0.001,
} as const;

const percent = (x: number): string => `${Number((100 * x).toPrecision(2))} %`;
const count = (x: number): string => Math.round(x).toLocaleString("en-GB");

/** Reasons not to trust an estimate, in plain words; empty if there are none. */
export function doubts(d: Diagnostics): string[] {
  const said: string[] = [];
  if (d.heaviest === 0) return ["the target policy would have taken none of the logged actions"];
  if (d.effective < trust.effective || d.heaviest > trust.heaviest) {
    said.push(
      `${count(d.half)} of ${count(d.clusters)} users or sessions carry half of the weight; the effective ` +
        `sample size is ${count(d.effective)} (${trust.effective} are needed)`,
    );
  }
  if (d.effectiveSpread < trust.effectiveSpread) {
    said.push(
      `the variance comes from about ${count(d.effectiveSpread)} of ${count(d.clusters)} users or sessions`,
    );
  }
  if (d.tail !== undefined && d.tail > trust.tail) {
    said.push(
      `the largest weights have a heavy tail (Pareto k ${d.tail.toFixed(2)}): more data may bring larger ones`,
    );
  }
  if (d.meanWeightP < trust.meanWeightP) {
    said.push(
      d.meanWeight < 1
        ? `the weights average ${d.meanWeight.toFixed(2)}, not 1: about ${percent(d.unsupported)} of what the target does ` +
            "was never logged, or the propensities are wrong"
        : `the weights average ${d.meanWeight.toFixed(2)}, not 1: the propensities are wrong`,
    );
  }
  return said;
}
