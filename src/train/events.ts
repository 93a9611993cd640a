/** Progress events of a run; `whetstone train --json` prints each as one line. */
import type { Finding } from "../core/finding.ts";
import type { Interval } from "../core/interval.ts";
import type { HealthReport } from "../diagnose/health/health.ts";
import type { Evaluation } from "../store/runStore.ts";
import type { IterationCost, NoEstimate } from "./estimate.ts";

/** Success over held-out tasks, with how the actions were chosen; `failed` episodes (not the agent's doing) are left out of it. */
export interface EvaluationResult extends Omit<Evaluation, "when" | "iteration"> {
  readonly mode: "sampled" | "greedy";
}

/**
 * Something that happened in a run: its start, an update of the warm start, an iteration, an evaluation, a checkpoint, a
 * warning or its end.
 */
export type RunEvent =
  | {
      readonly type: "start";
      readonly run: string;
      readonly env: string;
      readonly method: string;
      readonly engine: string;
      readonly seed: number;
      readonly out: string;
      /** How many numbers are trained; null where only a server knows. */
      readonly parameters: number | null;
      /** Bytes of the device's memory that the policy takes at most, where that is planned. */
      readonly memory?: number;
      readonly iterations: number;
      /** Iteration at which a resumed run continues. */
      readonly resumed?: number;
    }
  | {
      readonly type: "warmstart";
      readonly update: number;
      readonly loss: number;
      /** Held-out loss, where it was measured at this update. */
      readonly validation?: number;
      readonly tokensPerSecond: number;
      readonly seconds: number;
    }
  | ({
      readonly type: "evaluation";
      readonly when: "before" | "during" | "after";
      readonly iteration: number;
    } & EvaluationResult)
  | {
      readonly type: "iteration";
      readonly iteration: number;
      readonly iterations: number;
      /** NaN, like success and turns, where the policy played no episode to its end. */
      readonly reward: number;
      readonly success: number;
      readonly turns: number;
      /** Of the tokens that this process sampled; 0 where all were sampled before the run was resumed. */
      readonly tokensPerSecond: number;
      readonly seconds: number;
      /** Estimate for the rest of the run. */
      readonly secondsLeft: number;
      /** Everything else that was measured, by name. */
      readonly metrics: Readonly<Record<string, number>>;
    }
  | {
      /** What an iteration is expected to take; after a few iterations again, with what they took. */
      readonly type: "estimate";
      readonly seconds: number;
      /** The most memory that the process holds. */
      readonly bytes: number;
      /** Iterations that the run's budget of time allows, of those planned. */
      readonly iterations: number;
      readonly came?: IterationCost;
    }
  | ({
      /** In place of the estimate, where iterations are likely to take seconds. */
      readonly type: "no-estimate";
    } & NoEstimate)
  | {
      readonly type: "checkpoint";
      readonly iteration: number;
      readonly folder: string;
      readonly best: boolean;
    }
  | ({
      readonly type: "warning";
      readonly message: string;
      /** Which check found it, where a check did. */
    } & Partial<Finding>)
  | {
      readonly type: "done";
      readonly run: string;
      readonly out: string;
      readonly iterations: number;
      readonly seconds: number;
      /**
       * On the first held-out split; on "train" where there is none. Of actions sampled at temperature 1, or of greedy ones in a run
       * that measures no others.
       */
      readonly success: Interval;
      /** Whether none of the tasks behind `success` was trained on. */
      readonly heldOut: boolean;
      /** The checks that were made, and the problems found. */
      readonly health: HealthReport;
      readonly weights: string;
      readonly evaluations: readonly EvaluationResult[];
    }
  | { readonly type: "interrupted"; readonly run: string; readonly out: string; readonly iteration: number };
