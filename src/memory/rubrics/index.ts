/** Judges that learn without weights: libraries of rubrics that evolve against a few labelled pairs. */
export { rubricArtefact, rubricVersions } from "./artefact.ts";
export {
  begun,
  type Evolution,
  type EvolutionOptions,
  evolved,
  type Proposer,
  type Snapshot,
} from "./evolve.ts";
export {
  type FeatureProposerOptions,
  type FeaturesOf,
  featureJudge,
  featureProposer,
} from "./features.ts";
export { evolutionIn, type RewardHarnessOptions, rewardHarness } from "./learner.ts";
export { accuracyOf, type LabelledPair, scoredInBothOrders, type Verdict, verdictsOn } from "./orders.ts";
export { type ChatProposerOptions, chatProposer } from "./proposer.ts";
export { quotes } from "./quotes.ts";
