/** Judges that learn without weights: libraries of rubrics that evolve against a few labelled pairs. */
export {
  begun,
  type Evolution,
  type EvolutionOptions,
  evolved,
  type Proposer,
  type Snapshot,
} from "./evolve.ts";
export { accuracyOf, type JudgedPair, judgedPairs, type LabelledPair, scoredInBothOrders } from "./orders.ts";
export { type ChatProposerOptions, chatProposer } from "./proposer.ts";
export { quotes } from "./quotes.ts";
