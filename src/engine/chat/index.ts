export { type Budget, budget, type Limits, type Price } from "./budget.ts";
export { type ChatOptions, chatModel } from "./chat.ts";
export { chatEngine } from "./engine.ts";
