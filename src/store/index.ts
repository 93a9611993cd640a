export type * from "./production.ts";
export type { RunState } from "./schema.ts";
export * from "./store.ts";
