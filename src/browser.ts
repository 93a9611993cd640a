/** What runs in a web page too: the training loop in memory, exact tables, and small transformers on the page's GPU. */
export { type PageEngine, type PageEngineOptions, pageEngine } from "./engine/local/pageEngine.ts";
export { type TabularOptions, tabularEngine } from "./engine/tabular/engine.ts";
export { defineEnvironment } from "./env/environment.ts";
export { method } from "./method/method.ts";
export {
  type TrainedInMemory,
  type TrainInMemoryOptions,
  trainInMemory,
} from "./train/trainInMemory.ts";
