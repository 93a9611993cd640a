/** What the health of a run is judged by, and what is found. */
import type { Finding } from "../../core/finding.ts";
import type { Evaluation } from "../../store/runStore.ts";
import type { Curve } from "./curves.ts";

/** What the checks look at. */
export interface RunMeasurements {
  /** Its name, as commands take it. */
  readonly run: string;
  /** Its environment, as commands take it: a name, or a file. */
  readonly env: string;
  /** By metric. */
  readonly curves: Readonly<Record<string, Curve>>;
  readonly evaluations: readonly (Pick<Evaluation, "when" | "iteration" | "split" | "mode" | "success"> &
    Partial<Pick<Evaluation, "outcomes" | "trainedShare">>)[];
  /** Of its environment, when the run began. */
  readonly findings: readonly Finding[];
}

export interface HealthFinding extends Finding {
  /** A command that shows more. */
  readonly next?: string;
  /** The curve that shows it, and the iterations in which it was seen, half-open. */
  readonly metric?: string;
  readonly from?: number;
  readonly until?: number;
  /** Which episodes show it, where some do. */
  readonly episodes?: "failed" | "truncated" | "all";
}
