export { type Action, type AutoRollback, type AutoRollbackOptions, autoRollback } from "./autoRollback.ts";
export { type BanditOptions, type Seen, thompsonSplit } from "./bandit.ts";
export * from "./controller.ts";
export * from "./decision.ts";
export * from "./guardrails.ts";
export { type LiveData, meanValue, type Reward, readLiveData, type UnitData } from "./liveData.ts";
export { boundedComparison, type Limit, type MeanComparison, unboundedComparison } from "./meanComparison.ts";
export { type Assignment, assign, unitOf } from "./split.ts";
