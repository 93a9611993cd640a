export { type InjectedLabelOptions, injectedLabel } from "./injectedLabel.ts";
export { type LongestPrefixOptions, longestPrefix } from "./longestPrefix.ts";
export { lengthWeight, type MarkedSpansOptions, markedSpans } from "./markedSpans.ts";
export { type OutcomeBonusOptions, outcomeBonus } from "./outcomeBonus.ts";
export { perTurn } from "./perTurn.ts";
export { type RenormalisedOptions, renormalised } from "./renormalised.ts";
export { type ToFirstAttemptOptions, toFirstAttempt } from "./toFirstAttempt.ts";
export { toTrajectory } from "./toTrajectory.ts";
