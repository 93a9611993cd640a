export { constant } from "./constant.ts";
export { type GroupNormalisedOptions, groupNormalised } from "./groupNormalised.ts";
export { leaveOneOut } from "./leaveOneOut.ts";
export { type ReturnsToGoOptions, returnsToGo } from "./returnsToGo.ts";
export { type RunningBaselineOptions, runningBaseline } from "./runningBaseline.ts";
