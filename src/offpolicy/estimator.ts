/** The type of an off-policy estimator. */
import type { Sample } from "./sample.ts";
import type { PointEstimate } from "./weightedMean.ts";

/** Estimates the value of the target policy from trajectories of other policies. */
export type Estimator = (samples: readonly Sample[], options?: EstimatorOptions) => PointEstimate;

/** Settings that every estimator has in common. */
export interface EstimatorOptions {
  /** Discount γ per turn, in [0, 1]. Default 1. */
  readonly discount?: number;
}
