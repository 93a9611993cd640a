export { type HeldBackOptions, heldBack } from "./heldBack.ts";
export { type UniformOptions, type UniformState, uniform } from "./uniform.ts";
