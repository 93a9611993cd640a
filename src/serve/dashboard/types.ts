/** What the dashboard's server says to its pages: plain JSON, read by `web/` as types alone. */
import type { Interval } from "../../core/statistics.ts";
import type { RunState } from "../../store/index.ts";

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
