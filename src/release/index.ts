export { type Arms, boundedArms, type Limit, unboundedArms } from "./arms.ts";
export { type Action, type Watch, type WatchOptions, watch } from "./autoRollback.ts";
export { type BanditOptions, type Seen, thompsonShares } from "./bandit.ts";
export * from "./controller.ts";
export { type Evidence, gatherEvidence, meanValue, type Reward, type UnitEvidence } from "./evidence.ts";
export * from "./guardrails.ts";
export { type Assignment, assign, unitOf } from "./split.ts";
export * from "./verdict.ts";
