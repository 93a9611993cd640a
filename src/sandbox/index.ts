export type {
  JavaScriptLimits,
  JavaScriptOptions,
  JavaScriptOutcome,
  JavaScriptProgram,
  JavaScriptSandbox,
} from "./javascript.ts";
export { javaScriptLimits, javaScriptSandbox } from "./javascript.ts";
export { inWords, type Stopped } from "./outcome.ts";
export type { SqlLimits, SqlOptions, SqlOutcome, SqlSandbox } from "./sql.ts";
export { sqlLimits, sqlSandbox } from "./sql.ts";
