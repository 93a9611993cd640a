export { againstFirstAttempts } from "./againstFirstAttempts.ts";
export { type AmplifiedOptions, amplified } from "./amplified.ts";
export { type ClusterNormalisedOptions, clusterNormalised } from "./clusterNormalised.ts";
export { constant } from "./constant.ts";
export { type DisagreementToGoOptions, disagreementToGo } from "./disagreementToGo.ts";
export { type DurationWeightedOptions, durationWeighted } from "./durationWeighted.ts";
export { type EntropyHistoryState, entropyHistory, historyColumn } from "./entropyHistory.ts";
export { type EntropyModulatedOptions, entropyModulated } from "./entropyModulated.ts";
export { type EvidenceWeightedOptions, evidenceWeighted } from "./evidenceWeighted.ts";
export { type ExpertGateOptions, expertGate } from "./expertGate.ts";
export { type ExponentialWeightsOptions, exponentialWeights } from "./exponentialWeights.ts";
export { type GaeOptions, gae } from "./gae.ts";
export { type GatedIntrinsicOptions, gatedIntrinsic } from "./gatedIntrinsic.ts";
export { type GroupNormalisedOptions, groupNormalised } from "./groupNormalised.ts";
export {
  type HierarchicalOptions,
  hierarchical,
  hierarchyBlocks,
  hierarchyHeads,
} from "./hierarchical.ts";
export { leaveOneOut } from "./leaveOneOut.ts";
export { type MaskedOptions, masked } from "./masked.ts";
export { type MismatchRejectedOptions, mismatchRejected } from "./mismatchRejected.ts";
export { type OutcomePairsOptions, outcomePairs } from "./outcomePairs.ts";
export { type OverTurnMaskOptions, overTurnMask } from "./overTurnMask.ts";
export { clipWidth, type PooledReturnsOptions, pooledReturns } from "./pooledReturns.ts";
export { type PositionNormalisedOptions, positionNormalised } from "./positionNormalised.ts";
export { type PreferencePairsOptions, preferencePairs } from "./preferencePairs.ts";
export { type RejectionSampledOptions, rejectionSampled } from "./rejectionSampled.ts";
export { type ReturnsToGoOptions, returnsToGo } from "./returnsToGo.ts";
export { type RunningBaselineOptions, runningBaseline } from "./runningBaseline.ts";
export { type ScalarisedOptions, scalarised } from "./scalarised.ts";
export { rateColumn, type SuccessRatesOptions, successRates } from "./successRates.ts";
export { type TeacherGapOptions, teacherGap } from "./teacherGap.ts";
export { type TokenReturnsOptions, tokenReturns } from "./tokenReturns.ts";
export { type WhitenedOptions, whitened } from "./whitened.ts";
