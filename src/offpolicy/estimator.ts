/** What an estimator of a policy's value is. */
import type { Sample } from "./sample.ts";
import type { PointEstimate } from "./weightedMean.ts";

/** The value of the target policy, from trajectories of other policies. */
export type Estimator = (samples: readonly Sample[], options?: EstimatorOptions) => PointEstimate;

export interface EstimatorOptions {
  /** γ of rewards t turns on, in [0, 1]. Default 1. */
  readonly discount?: number;
}
