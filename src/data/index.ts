export { type HeldBackOptions, heldBack } from "./reserved.ts";
export { type UniformOptions, type UniformState, uniform } from "./uniform.ts";
