/** An off-policy estimate with its interval and diagnostics. */
import type { Interval } from "../core/interval.ts";
import { type Diagnostics, diagnose, doubts } from "./diagnostics.ts";
import type { Estimator } from "./estimator.ts";
import { boundedInterval, clusterInterval } from "./intervals.ts";
import type { Sample } from "./sample.ts";
import { snips } from "./snips.ts";

/** Settings of {@link estimateValue}. `discount` is γ per turn, in [0, 1], by default 1. */
export interface EstimateOptions {
  /** Default {@link snips}. */
  readonly estimator?: Estimator;
  /** Two-sided confidence. Default 0.95. */
  readonly confidence?: number;
  readonly discount?: number;
  /** Range of a trajectory's return, if it is known: adds the conservative interval `bounded`. */
  readonly range?: readonly [low: number, high: number];
}

/** The estimated value of a policy, in units of a trajectory's return, and whether to trust it. */
export interface Estimate {
  readonly interval: Interval;
  /** Valid whatever the weights are. */
  readonly bounded?: Interval;
  readonly diagnostics: Diagnostics;
  /** Whether the interval has its nominal coverage. */
  readonly trusted: boolean;
  /** Reasons not to trust it; empty if trusted. */
  readonly doubts: readonly string[];
}

/** The value of a target policy from logged trajectories of other policies, with reasons not to trust it. */
export function estimateValue(samples: readonly Sample[], options: EstimateOptions = {}): Estimate {
  const { estimator = snips, confidence = 0.95, discount = 1, range } = options;
  const point = estimator(samples, { discount });
  const diagnostics = diagnose(samples, point);
  const reasons = doubts(diagnostics);
  return {
    interval: clusterInterval(samples, point, confidence),
    ...(range ? { bounded: boundedInterval(samples, range, { confidence, discount }) } : {}),
    diagnostics,
    trusted: reasons.length === 0,
    doubts: reasons,
  };
}

/** One line for users: the estimate, and whether to trust it. */
export function sayEstimate(estimate: Estimate): string {
  const { mean, low, high } = estimate.interval;
  const number = (x: number): string => (Number.isFinite(x) ? String(Number(x.toPrecision(3))) : "–");
  const value = `${number(mean)} [${number(low)}, ${number(high)}]`;
  return estimate.trusted ? value : `${value}, not to be trusted: ${estimate.doubts.join("; ")}`;
}
