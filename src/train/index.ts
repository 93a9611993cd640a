export {
  type Arm,
  type Check,
  type CheckEvidence,
  type Choice,
  defineCheck,
  type Measured,
} from "./check.ts";
export { type ConfigOptions, type RunConfig, resolveConfig } from "./config.ts";
export { type EvaluateOptions, evaluate } from "./evaluate.ts";
export type { EvaluationResult, RunEvent } from "./events.ts";
export {
  type Distilled,
  type FittedJudge,
  type FittedToLabels,
  fittedJudgeSchema,
  fittedToLabels,
  judgeFrom,
  ofAttempts,
} from "./fittedJudge.ts";
export { readRunConfig } from "./folder.ts";
export { type FromExamplesOptions, fromExamples } from "./fromExamples.ts";
export {
  type FeedbackOptions,
  fromFeedback,
  type TrainFromFeedbackOptions,
  trainFromFeedback,
} from "./fromFeedback.ts";
export { headsJudge, type RewardHeads, type RewardHeadsOptions, trainRewardHeads } from "./rewardHeads.ts";
export { type RunOptions, type RunParts, type RunSummary, train, trainByConfig } from "./run.ts";
export { defaultWarmStart, type EvaluationSettings, type WarmStartSettings } from "./settings.ts";
export { type TrainedInMemory, type TrainInMemoryOptions, trainInMemory } from "./trainInMemory.ts";
export {
  averageOf,
  finalSuccess,
  meanSuccess,
  plainAscent,
  type TrainingArm,
  trainingArm,
} from "./trainingArm.ts";
export type { WatchOptions } from "./watchOptions.ts";
