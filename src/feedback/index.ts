export { type AnchorDivergenceOptions, anchorDivergence } from "./anchorDivergence.ts";
export {
  type Compared,
  type ComparedRewardOptions,
  comparedReward,
  type Exchange,
} from "./comparedReward.ts";
export { type ComparisonsOptions, comparisons } from "./comparisons.ts";
export { type ContributionsOptions, contributions } from "./contributions.ts";
export { type FromAnnotationOptions, fromAnnotation } from "./fromAnnotation.ts";
export { type InformationGainOptions, informationGain } from "./informationGain.ts";
export { judgedOutcome } from "./judgedOutcome.ts";
export { type LearntRewardOptions, learntReward } from "./learntReward.ts";
export { type OutcomeOptions, outcome } from "./outcome.ts";
export { type RecordedFeedbackOptions, recordedFeedback } from "./recordedFeedback.ts";
export { type TurnRewardsOptions, turnRewards } from "./turnRewards.ts";
export { type WinRatesOptions, winRates } from "./winRates.ts";
