export type * from "./batch.ts";
export type * from "./context.ts";
export type * from "./json.ts";
export type * from "./model.ts";
export type * from "./outputs.ts";
export type * from "./signal.ts";
export type * from "./slots.ts";
export type * from "./words.ts";
