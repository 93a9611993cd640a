/** Searches for the best solution of one problem: `whetstone discover` as functions. */
export { type Archive, bestOf, lineageOf, type Node, type Strategy } from "./archive.ts";
export { defineProblem, type Problem, type Proposing, problemEnvironment } from "./problem.ts";
export { type SearchOptions, searchMethod } from "./search.ts";
