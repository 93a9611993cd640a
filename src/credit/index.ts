export { type LongestPrefixOptions, longestPrefix } from "./longestPrefix.ts";
export { perTurn } from "./perTurn.ts";
export { toTrajectory } from "./toTrajectory.ts";
