export { type ByProgressOptions, byProgress, type ProgressState } from "./byProgress.ts";
export { asProposed } from "./proposed.ts";
export { type ReservedOptions, reserved } from "./reserved.ts";
export { type UniformOptions, type UniformState, uniform } from "./uniform.ts";
export { formatsOf, originalOf, posed } from "./variants.ts";
