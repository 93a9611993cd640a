/** Code that pieces of methods share: statistics, text, tokens, artefacts. */

export {
  type ApplyOptions,
  applyArtefact,
  type PromptAddition,
  promptAdditionOf,
  type Rank,
  sharedWords,
  situationOf,
  withPromptAddition,
} from "./artefacts/applyArtefact.ts";
export { emptyInstructions, emptyLibrary, withEntries, withExamples } from "./artefacts/mergeArtefacts.ts";
export { joinedOrigins, originsIn, withoutParts, writtenBy } from "./artefacts/origins.ts";
export { asReserved, isReserved } from "./artefacts/reserved.ts";
export { adamwStep } from "./statistics/adamw.ts";
export { type DivergenceAt, type DivergenceKind, divergenceAt } from "./statistics/divergence.ts";
export { logSigmoid, sigmoid } from "./statistics/logistic.ts";
export {
  mean,
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
  sequentialVerdict,
  standardDeviation,
  wilsonInterval,
} from "./statistics/statistics.ts";
export { addStats, averageStats } from "./statistics/stats.ts";
export { type Hint, sayHint } from "./text/hints.ts";
export { type Leak, leakCheck } from "./text/leaks.ts";
export * from "./text/quotedSpans.ts";
export { type Cell, cellMatch, equalTables, type MatchOptions, type Table } from "./text/tables.ts";
export {
  type ReadReply,
  readCalls,
  type WrittenCall,
  writeCall,
  writeMessage,
  writeTools,
} from "./text/toolCalls.ts";
export { transcript, transcriptWithoutSystem } from "./text/transcript.ts";
export * from "./tokens/hindsight.ts";
export * from "./tokens/pack.ts";
export * from "./tokens/pairs.ts";
export * from "./tokens/privilegedContext.ts";
export { rewritten } from "./tokens/rewrite.ts";
export { concatIds, continues, onSharedSequences } from "./tokens/sequence.ts";
export * from "./tokens/tokenRanges.ts";
