export { perTurn } from "./perTurn.ts";
export { toTrajectory } from "./toTrajectory.ts";
