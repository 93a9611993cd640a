/** Whetstone: LLM agents that learn from feedback. Each room is also a subpath: `whetstone/env`, `whetstone/objective`… */
export * from "./common/index.ts";
export * from "./core/index.ts";
export * from "./engine/index.ts";
export * from "./env/index.ts";
export * from "./memory/index.ts";
export * from "./method/index.ts";
export { grpo } from "./methods/baseline/grpo/method.ts";
export * from "./methods/index.ts";
export * from "./serve/index.ts";
export * from "./suite/index.ts";
export * from "./train/index.ts";
