export { type EvaluateOptions, evaluate } from "./evaluate.ts";
export type { EvaluationResult, RunEvent } from "./events.ts";
export { type RunOptions, type RunSummary, train } from "./run.ts";
export { defaultWarmStart, type EvaluationSettings, type WarmStartSettings } from "./settings.ts";
