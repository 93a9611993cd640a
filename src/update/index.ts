export { type AggregatedOptions, aggregated } from "./aggregated.ts";
export { type ImportanceWeightedOptions, importanceWeighted } from "./importanceWeighted.ts";
export { type MinibatchesOptions, minibatches, type Schedule } from "./minibatches.ts";
export { nothing } from "./nothing.ts";
export { type OffPolicyActorCriticOptions, offPolicyActorCritic } from "./offPolicyActorCritic.ts";
export { type TurnByTurnOptions, turnByTurn } from "./turnByTurn.ts";
export { lastMessage } from "./turnReplay.ts";
