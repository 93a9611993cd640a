/** What is wrong with an environment before training, and with a run after it. */
export {
  type Examination,
  type ExamineOptions,
  examine,
  reportOf,
  requireSound,
} from "./environment/validate.ts";
export { type HealthReport, healthOf } from "./health/health.ts";
export {
  disagreement,
  freshWatch,
  type WatchAlarm,
  type Watched,
  type WatchRule,
  type WatchState,
  watched,
} from "./watch.ts";
