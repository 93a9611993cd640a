export { type ClippedRatioOptions, clippedRatio } from "./clippedRatio.ts";
export {
  type CovarianceRatioOptions,
  covarianceRatio,
  type Remedy,
  tokenCovariance,
} from "./covarianceRatio.ts";
export { type DiscriminativeOptions, discriminative } from "./discriminative.ts";
export { type DistillationOptions, distillation } from "./distillation.ts";
export { type EntropyBandOptions, entropyBand, epoSchedule } from "./entropyBand.ts";
export { type EntropyBonusOptions, entropyBonus } from "./entropyBonus.ts";
export { type GatedRatioOptions, gatedRatio } from "./gatedRatio.ts";
export { type KlPenaltyOptions, klPenalty } from "./klPenalty.ts";
export { type LikelihoodOptions, likelihood } from "./likelihood.ts";
export { type NegativeAwareOptions, negativeAware } from "./negativeAware.ts";
export type { Normaliser } from "./normaliser.ts";
export { type PairLoss, type PairwiseOptions, pairwise } from "./pairwise.ts";
export { type PolicyGradientOptions, policyGradient } from "./policyGradient.ts";
export { type ProspectValueOptions, prospectValue } from "./prospectValue.ts";
export { type RestrictedOptions, restricted } from "./restricted.ts";
export { type SelfImprovingOptions, selfImproving } from "./selfImproving.ts";
export { type ShapedProbabilityOptions, shapedProbability } from "./shapedProbability.ts";
export { type ValueRegressionOptions, valueRegression } from "./valueRegression.ts";
