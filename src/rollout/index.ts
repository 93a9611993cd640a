export {
  type Acted,
  type Actor,
  type ActRequest,
  chatActor,
  type ModelActorParts,
  modelActor,
  scriptActor,
  withArtefact,
} from "./actor.ts";
export { type CandidatesPerStateOptions, candidatesPerState } from "./candidatesPerState.ts";
export { type Retried, type Retry, retried } from "./critiqueAndRetry.ts";
export { type Critiqued, type CritiquedOptions, critiqued } from "./critiqued.ts";
export {
  type DemonstratedOptions,
  demonstrated,
  type WithDemonstrationsOptions,
  withDemonstrations,
} from "./demonstrated.ts";
export { type EpisodeOptions, playEpisode } from "./episode.ts";
export { type MultiTurnOptions, multiTurn } from "./multiTurn.ts";
export {
  drawChances,
  drawSelf,
  keepSelf,
  keptSelves,
  noteGames,
  type PastSelf,
  type PoolOptions,
  pastSelves,
} from "./opponentPool.ts";
export { type OpponentsOptions, opponents } from "./opponents.ts";
export { type ReplayedOptions, replayed } from "./replayed.ts";
export {
  attemptAndCritique,
  attemptWords,
  type RetryWithFeedbackOptions,
  retryWithFeedback,
} from "./retryWithFeedback.ts";
export { type SearchNode, type SelectionRule, treeOfEpisodes } from "./searchTree.ts";
export { type SelfPlayOptions, selfPlay } from "./selfPlay.ts";
export { type TreeSearchOptions, treeSearch } from "./treeSearch.ts";
export { balancedAttempts, type VerdictsOnOptions, verdictsOn } from "./verdictsOn.ts";
export { type WithCorrectionsOptions, withCorrections } from "./withCorrections.ts";
export { type Joining, type WithReplayOptions, withReplay } from "./withReplay.ts";
