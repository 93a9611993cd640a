/** Learned helpers: models that methods use beside the policy. */
export {
  type BradleyTerryOptions,
  bradleyTerry,
  type ComparedExchanges,
  type Exchanged,
  type LabelledExchanges,
} from "./bradleyTerry.ts";
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
