export { filtered } from "./filtered.ts";
export { type HeldBackOptions, heldBack } from "./heldBack.ts";
export {
  type Ladder,
  type LevelCurriculumOptions,
  type LevelState,
  ladder,
  levelCurriculum,
} from "./levelCurriculum.ts";
export {
  type RewardVarianceOptions,
  rewardVariance,
  type VarianceState,
  varianceOf,
} from "./rewardVariance.ts";
export { type UniformOptions, type UniformState, uniform } from "./uniform.ts";
