export type {
  JavaScriptLimits,
  JavaScriptOptions,
  JavaScriptOutcome,
  JavaScriptProgram,
  JavaScriptSandbox,
} from "./javascript.ts";
export { javaScriptLimits, javaScriptSandbox } from "./javascript.ts";
export { explained, type Stopped } from "./outcome.ts";
