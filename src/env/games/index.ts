/** Games with known answers: environments for several roles, and exact answers about how they are played. */
export { type BargainingOptions, bargaining } from "./bargaining.ts";
export { type RockPaperScissorsOptions, rockPaperScissors } from "./cyclic.ts";
export {
  type GameEnvironment,
  type GameOptions,
  gameEnvironment,
  isGame,
  strategyPlayer,
} from "./environment.ts";
export type { Game } from "./game.ts";
export { kuhnPoker } from "./kuhn.ts";
export { leducPoker } from "./leduc.ts";
export { type ModelStrategy, strategyOf } from "./modelStrategy.ts";
export { type NimOptions, nim } from "./nim.ts";
export { redTeam } from "./redTeam.ts";
export { bestResponses, type ReferenceOptions, referencePlay } from "./solve.ts";
export { type TabooOptions, taboo } from "./taboo.ts";
export { ticTacToe } from "./ticTacToe.ts";
export {
  averaged,
  type BestResponse,
  bestResponse,
  exploitability,
  type GameTree,
  type InformationSet,
  nashGap,
  ownReach,
  payoffsUnder,
  type Strategy,
  together,
  treeOf,
  uniformStrategy,
} from "./tree.ts";
