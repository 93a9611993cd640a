export { lowerBound } from "./betting.ts";
export { type Diagnostics, diagnose, doubts, trust } from "./diagnostics.ts";
export { doublyRobust, weightedDoublyRobust } from "./doublyRobust.ts";
export { type Estimate, type EstimateOptions, estimateValue, sayEstimate } from "./estimate.ts";
export type { Estimator, EstimatorOptions } from "./estimator.ts";
export { boundedInterval, clusterInterval, standardError } from "./intervals.ts";
export { ips } from "./ips.ts";
export { clipped, switched } from "./limited.ts";
export { policySample, type TrajectoryReward, versionSample } from "./logged.ts";
export { paretoShape, paretoTail } from "./paretoTail.ts";
export { perDecision, weightedPerDecision } from "./perDecision.ts";
export {
  type Answer,
  actionRatio,
  discountedReturn,
  type Predicted,
  type Sample,
  trajectoryWeight,
  versionRatio,
  withAnswer,
} from "./sample.ts";
export { snips } from "./snips.ts";
export { unskewed } from "./unskewed.ts";
export type { PointEstimate } from "./weightedMean.ts";
