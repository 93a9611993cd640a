export {
  type Arm,
  type Check,
  type CheckEvidence,
  type Choice,
  defineCheck,
  type Measured,
} from "./check.ts";
export { type EvaluateOptions, evaluate } from "./evaluate.ts";
export type { EvaluationResult, RunEvent } from "./events.ts";
export { type FromLessonsOptions, fromLessons, lessonsFor } from "./fromExamples.ts";
export { type RunOptions, type RunSummary, train } from "./run.ts";
export { defaultWarmStart, type EvaluationSettings, type WarmStartSettings } from "./settings.ts";
export { type Practised, type PractiseOptions, practise } from "./trainInMemory.ts";
export { armOf, averageOf, finalSuccess, meanSuccess, type PracticeArm, plainAscent } from "./trainingArm.ts";
