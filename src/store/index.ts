export { openProduction } from "./openProduction.ts";
export type * from "./production.ts";
export * from "./recorder.ts";
export type { RunState } from "./schema.ts";
export * from "./store.ts";
