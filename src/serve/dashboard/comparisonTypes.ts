/** JSON types of the dashboard's API: comparisons that `whetstone compare` wrote. */
import type { Range, Value } from "./numberTypes.ts";

export interface ComparisonRow {
  /** Name of its folder. */
  readonly id: string;
  readonly env: string;
  readonly engine: string;
  /** The first is what the others are compared with. */
  readonly methods: readonly string[];
  readonly seeds: number;
  /** When it was written, milliseconds since 1970. */
  readonly at: number;
}

export interface ComparisonsPage {
  /** The last written first. */
  readonly comparisons: readonly ComparisonRow[];
}

/** A method on one split. */
export interface ComparedMethodRow {
  readonly method: string;
  readonly success: Range;
  /** Paired difference to the first method, and P(a run of it beats a run of the first). Absent for the first. */
  readonly against?: { readonly difference: Range; readonly improvement: Value };
  /** Mean success over training. */
  readonly training: Range;
  /** Success in training by iteration, mean over seeds. */
  readonly curve: readonly Value[];
  readonly episodes: Value;
  readonly tokens: Value;
  readonly seconds: Value;
  /** The settings that were chosen for it, in words. */
  readonly chosen: string;
}

export interface ComparisonDetail extends ComparisonRow {
  readonly model?: string;
  /** The budget of a run, in words. */
  readonly budget: string;
  /** How settings were chosen, in words. */
  readonly tuned: string;
  /** What to mind: ceilings, floors, settings at the edge of their lists. */
  readonly warnings: readonly string[];
  readonly splits: readonly {
    readonly split: string;
    /** Share of its tasks that are trained on as well. */
    readonly trainedShare: number;
    readonly rows: readonly ComparedMethodRow[];
  }[];
  /** Success of every run by seed. */
  readonly runs: readonly {
    readonly method: string;
    readonly split: string;
    readonly success: readonly Value[];
  }[];
  readonly seedNumbers: readonly number[];
}
