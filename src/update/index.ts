export { type ImportanceWeightedOptions, importanceWeighted } from "./importanceWeighted.ts";
export { type MinibatchesOptions, minibatches, type Schedule } from "./minibatches.ts";
export { nothing } from "./nothing.ts";
