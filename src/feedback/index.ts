export { type ComparisonsOptions, comparisons } from "./comparisons.ts";
export { demonstrationsWin } from "./demonstrationsWin.ts";
export { type InformationGainOptions, informationGain } from "./informationGain.ts";
export { type JudgementOptions, judgement } from "./judgement.ts";
export { type OutcomeOptions, outcome } from "./outcome.ts";
export { type OverlongOptions, overlong } from "./overlong.ts";
export { type ToolMatchingOptions, toolMatching } from "./toolMatching.ts";
export { type TurnRewardsOptions, turnRewards } from "./turnRewards.ts";
export { type WinRatesOptions, winRates } from "./winRates.ts";
