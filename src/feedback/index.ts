export { type AnchorDivergenceOptions, anchorDivergence } from "./anchorDivergence.ts";
export {
  type ClarifyingQuestionsOptions,
  clarifyingQuestions,
  type Move,
  type MoveWorth,
  moveWorths,
  plainMove,
} from "./clarifyingQuestions.ts";
export { type ComparisonsOptions, comparisons } from "./comparisons.ts";
export { type ContributionsOptions, contributions } from "./contributions.ts";
export { type CritiquesOptions, critiques } from "./critiques.ts";
export { type DegenerationOptions, degeneration, repetition } from "./degeneration.ts";
export { demonstrationsWin } from "./demonstrationsWin.ts";
export {
  type EntropyReductionOptions,
  entropyReduction,
  firstBelief,
  heardBelief,
} from "./entropyReduction.ts";
export { patternFactors, usualPatterns, wordFactors } from "./factors.ts";
export { type FollowUpLikelihoodOptions, type FollowUps, followUpLikelihood } from "./followUpLikelihood.ts";
export { type HindsightRatingsOptions, hindsightRatings, ratingOf, verdict } from "./hindsightRatings.ts";
export { type ImplicitRewardsOptions, implicitRewards } from "./implicitRewards.ts";
export { type ImprovementOptions, improvement } from "./improvement.ts";
export { type InducedOutcomeOptions, inducedOutcome } from "./inducedOutcome.ts";
export { type InformationGainOptions, informationGain } from "./informationGain.ts";
export { type Judge, type JudgedOptions, type JudgeNoise, judged, noisyJudge } from "./judged.ts";
export { type JudgementOptions, judgement } from "./judgement.ts";
export { type LearntRewardOptions, learntReward } from "./learntReward.ts";
export { type MajorityVoteOptions, majorityVote } from "./majorityVote.ts";
export { type MilestonesOptions, milestones } from "./milestones.ts";
export { type NotedOptions, noted } from "./noted.ts";
export { type OutcomeOptions, outcome } from "./outcome.ts";
export { type OverlongOptions, overlong } from "./overlong.ts";
export { type PartialMatchOptions, partialMatch } from "./partialMatch.ts";
export { type PersonalRewardOptions, personalReward } from "./personalReward.ts";
export { type CurveWeights, curveReward, type QualityCurveOptions, qualityCurve } from "./qualityCurve.ts";
export { type RecordedOptions, recorded } from "./recorded.ts";
export { type ReflectionOptions, reflection } from "./reflection.ts";
export { plainAnswer, type RetriesOptions, repeatedShare, retries } from "./retries.ts";
export {
  type Rule,
  type RuleStep,
  type RuleTreeOptions,
  ruleTree,
  ruleValues,
  webRules,
} from "./ruleTree.ts";
export { type ToolMatchingOptions, toolMatching } from "./toolMatching.ts";
export { type TurnRewardsOptions, turnRewards } from "./turnRewards.ts";
export { type WinRatesOptions, winRates } from "./winRates.ts";
