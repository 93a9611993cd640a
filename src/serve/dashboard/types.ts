/** What the dashboard's server says to its pages: plain JSON, read by `web/` as types alone. */
import type { Json } from "../../core/json.ts";
import type { Interval } from "../../core/statistics.ts";
import type { HealthNote } from "../../diagnose/health.ts";
import type { Evaluation, RunState } from "../../store/index.ts";

/** A number as JSON has it: NaN is null. */
export type Value = number | null;

export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly env: string;
  readonly method: string;
  readonly engine: string;
  readonly seed: number;
  readonly state: RunState;
  /** ISO 8601 in UTC. */
  readonly started: string;
  /** Of a run that goes on: till now. */
  readonly seconds: number;
  /** Iterations that were written. */
  readonly iterations: number;
  /** Held out, after the run. */
  readonly success?: Interval;
  /** Success on practised tasks over the run, evenly sampled. */
  readonly spark: readonly Value[];
}

export interface RunsPage {
  readonly runs: readonly RunRow[];
}

export interface RunDetail extends RunRow {
  readonly folder: string;
  readonly config: Json;
  readonly evaluations: readonly Evaluation[];
  /** All metrics that have curves. */
  readonly metrics: readonly string[];
  readonly notes: readonly HealthNote[];
}

/** Curves over the same iterations, thinned to what a chart can show. */
export interface Curves {
  readonly iteration: readonly number[];
  readonly values: Readonly<Record<string, readonly Value[]>>;
}
