export { bestOf } from "./bestOf.ts";
export { bestRetry } from "./bestRetry.ts";
export { type CandidatesPerStateOptions, candidatesPerState } from "./candidatesPerState.ts";
export { type DeadlineOptions, deadline } from "./deadline.ts";
export {
  type DemonstratedOptions,
  demonstrated,
  type WithDemonstrationsOptions,
  withDemonstrations,
} from "./demonstrated.ts";
export { type DynamicSamplingOptions, dynamicSampling } from "./dynamicSampling.ts";
export { type EpisodeOptions, playEpisode, type Seat } from "./episode.ts";
export { type ImaginedRolloutOptions, imagined } from "./imagined.ts";
export {
  type AttemptStep,
  type Intervention,
  type InterventionsOptions,
  intervened,
  type Propose,
  type ProposedBySelfOptions,
  proposedBySelf,
  stepsOf,
} from "./intervened.ts";
export { type MultiTurnOptions, multiTurn } from "./multiTurn.ts";
export { type OpponentsOptions, opponents } from "./opponents.ts";
export { type PastSelfOptions, pastSelf } from "./pastSelf.ts";
export { type ReflectThenRetryOptions, reflectThenRetry } from "./reflectThenRetry.ts";
export { type ReplayedOptions, replayed } from "./replayed.ts";
export { type Retried, type Retry, retried } from "./retried.ts";
export { type RetrospectiveOptions, retrospective } from "./retrospective.ts";
export {
  attemptAndCritique,
  attemptWords,
  type RetryWithFeedbackOptions,
  retryWithFeedback,
} from "./retryWithFeedback.ts";
export { type ScopedFeedbackOptions, scopedFeedback } from "./scopedFeedback.ts";
export { type SelfPurifiedOptions, selfPurified } from "./selfPurified.ts";
export { type WithCorrectionsOptions, withCorrections } from "./withCorrections.ts";
export {
  criticRole,
  critiqueAsked,
  type WithCritiqueRowsOptions,
  withCritiqueRows,
} from "./withCritiqueRows.ts";
export { type WithFollowUpRowsOptions, withFollowUpRows } from "./withFollowUpRows.ts";
export { withoutLeaks } from "./withoutLeaks.ts";
export { type WithRevisionsOptions, withRevisions } from "./withRevisions.ts";
export { spansIn, type WithSpansOptions, withSpans } from "./withSpans.ts";
export { teacherRole, withTeacherRows } from "./withTeacherRows.ts";
