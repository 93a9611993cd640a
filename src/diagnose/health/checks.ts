/** The checks of a run's health, in the order of their report. */
import type { HealthCheck } from "./check.ts";
import { collapsed, drifted, noisy, proposals } from "./collapseChecks.ts";
import {
  drift,
  exploited,
  falling,
  gap,
  gradient,
  headroom,
  learnt,
  opposed,
  preferred,
  stale,
} from "./learningChecks.ts";
import {
  actions,
  constantReward,
  cutOff,
  deadGroups,
  entropy,
  environment,
  failures,
  rewarded,
} from "./playChecks.ts";

/** In the order in which they are shown: what makes others meaningless comes first. */
export const healthChecks: readonly HealthCheck[] = [
  environment,
  failures,
  actions,
  cutOff,
  rewarded,
  headroom,
  learnt,
  opposed,
  falling,
  entropy,
  collapsed,
  proposals,
  noisy,
  drifted,
  deadGroups,
  constantReward,
  gradient,
  gap,
  drift,
  preferred,
  exploited,
  stale,
];
