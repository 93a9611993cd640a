export { type MinibatchesOptions, minibatches, type Schedule } from "./minibatches.ts";
export { nothing } from "./nothing.ts";
export { type TurnByTurnOptions, turnByTurn } from "./turnByTurn.ts";
