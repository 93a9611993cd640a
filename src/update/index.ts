export { type MinibatchesOptions, minibatches, type Schedule } from "./minibatches.ts";
