export { type GoldLikelihoodOptions, goldLikelihood } from "./goldLikelihood.ts";
export { type ValuesOptions, values } from "./values.ts";
