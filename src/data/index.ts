export { type UniformOptions, type UniformState, uniform } from "./uniform.ts";
