export { constant } from "./constant.ts";
export { type GaeOptions, gae } from "./gae.ts";
export { type GroupNormalisedOptions, groupNormalised } from "./groupNormalised.ts";
export { leaveOneOut } from "./leaveOneOut.ts";
export { clipWidth, type PooledReturnsOptions, pooledReturns } from "./pooledReturns.ts";
export { type PositionNormalisedOptions, positionNormalised } from "./positionNormalised.ts";
export { type ReturnsToGoOptions, returnsToGo } from "./returnsToGo.ts";
export { type RunningBaselineOptions, runningBaseline } from "./runningBaseline.ts";
export { type WhitenedOptions, whitened } from "./whitened.ts";
