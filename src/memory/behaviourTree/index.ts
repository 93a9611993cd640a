/** Behaviour trees as policies: parsing, running, reporting and rewriting. */
export { programOf, treeArtefact } from "./artefact.ts";
export { parseTree } from "./parse.ts";
export { type ProgramOptions, treeProgram } from "./program.ts";
export {
  type Failing,
  narrated,
  type Report,
  reportOf,
  type Utility,
  usualUtility,
} from "./report.ts";
export { type ChatRewriterOptions, chatRewriter } from "./rewriter.ts";
export {
  type Found,
  improved,
  type Kept,
  type Rewriter,
  type SearchOptions,
  type Wish,
} from "./search.ts";
export { readSituation, type Seen } from "./situation.ts";
export { type RunOptions, running, type Ticked, tick } from "./tick.ts";
export {
  type Grammar,
  type Leaf,
  type Node,
  type Situation,
  type Status,
  showTree,
  type TreeLimits,
  treeSize,
} from "./tree.ts";
