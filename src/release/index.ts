export { type MeanComparison, boundedComparison, type Limit, unboundedComparison } from "./arms.ts";
export { type Action, type AutoRollback, type AutoRollbackOptions, autoRollback } from "./autoRollback.ts";
export { type BanditOptions, type Seen, thompsonSplit } from "./bandit.ts";
export * from "./controller.ts";
export { type LiveData, readLiveData, meanValue, type Reward, type UnitData } from "./evidence.ts";
export * from "./guardrails.ts";
export { type Assignment, assign, unitOf } from "./split.ts";
export * from "./verdict.ts";
