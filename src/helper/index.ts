/** Learned helpers: models that methods use beside the policy. */
export * from "./crossedWords.ts";
export * from "./expectileCritic.ts";
export * from "./logisticRegression.ts";
export {
  anchoredFlips,
  type FlipRates,
  type ObservationalRewardOptions,
  observationalReward,
} from "./observationalReward.ts";
export * from "./observedFeedback.ts";
export { type PropensityOptions, propensity } from "./propensity.ts";
export { type Features, type RidgeOptions, ridge } from "./ridge.ts";
export { wordGrams } from "./wordGrams.ts";
