export { adamwStep } from "./adamw.ts";
export {
  type Addition,
  type ApplyOptions,
  additionOf,
  applied,
  type Rank,
  sharedWords,
  situationOf,
  withAddition,
} from "./applied.ts";
export * from "./artefact.ts";
export type * from "./batch.ts";
export { rowCount } from "./batch.ts";
export * from "./chat.ts";
export type * from "./context.ts";
export type * from "./critic.ts";
export { type DivergenceAt, type DivergenceKind, divergenceAt } from "./divergence.ts";
export * from "./encoder.ts";
export { type ErrorCode, type ErrorParts, errorCodes, isWhetstoneError, WhetstoneError } from "./errors.ts";
export { noInstructions, noLessons, withEntries, withExamples } from "./gathered.ts";
export { asHeldBack, isHeldBack } from "./heldBack.ts";
export * from "./hindsight.ts";
export { type Hint, sayHint } from "./hints.ts";
export { type Intent, intentOf, slotsNamed } from "./intent.ts";
export type * from "./json.ts";
export { type Leak, leakCheck } from "./leaks.ts";
export * from "./lessons.ts";
export { logSigmoid, sigmoid } from "./logistic.ts";
export * from "./marks.ts";
export type * from "./model.ts";
export { capabilities } from "./model.ts";
export { joinedOrigins, originsIn, withoutParts, writtenBy } from "./origins.ts";
export type * from "./outputs.ts";
export * from "./pack.ts";
export * from "./pairs.ts";
export * from "./places.ts";
export { type Random, randomStream, shuffled } from "./random.ts";
export { rewritten } from "./rewrite.ts";
export * from "./rubrics.ts";
export type * from "./served.ts";
export { checkShares } from "./shares.ts";
export type * from "./shelf.ts";
export type * from "./signal.ts";
export { signalValue } from "./signal.ts";
export type * from "./slots.ts";
export {
  type Interval,
  mean,
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
  sequentialVerdict,
  standardDeviation,
  wilsonInterval,
} from "./statistics.ts";
export { addStats, averageStats } from "./stats.ts";
export { type Cell, cellMatch, equalTables, type MatchOptions, type Table } from "./tables.ts";
export * from "./tellings.ts";
export {
  type ReadReply,
  readCalls,
  type WrittenCall,
  writeCall,
  writeMessage,
  writeTools,
} from "./toolCalls.ts";
export { transcript, transcriptUntold } from "./transcript.ts";
export type * from "./words.ts";
export { actionTokens, succeeded } from "./words.ts";
