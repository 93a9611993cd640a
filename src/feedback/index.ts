export { type OutcomeOptions, outcome } from "./outcome.ts";
export { type TurnRewardsOptions, turnRewards } from "./turnRewards.ts";
