/** Types of the run store. */
import type { Finding } from "../core/finding.ts";
import type { Interval } from "../core/interval.ts";
import type { Json } from "../core/json.ts";
import type { Stats, Trajectory } from "../core/types.ts";
import type { ArtefactStore } from "./artefacts.ts";
import type { RunState } from "./schema.ts";
import type { Saved } from "./trajectoryRow.ts";
import type { TrajectoryWords } from "./turns.ts";

export type { TrajectoryWords } from "./turns.ts";

/** Data of a run at its start. */
export interface RunStart {
  readonly id: string;
  readonly name: string;
  readonly env: string;
  readonly method: string;
  readonly engine: string;
  readonly seed: number;
  readonly config: Json;
  readonly folder: string;
}

/** A stored run. */
export interface Run extends RunStart {
  readonly state: RunState;
  /** ISO 8601 in UTC. */
  readonly started: string;
  /** When the run last wrote something: a run that was killed stays "running". */
  readonly seen: string;
  readonly finished?: string;
  /** `success` and `seconds` of a run that is done, the `error` of one that failed. */
  readonly summary?: Json;
  /** Problems of its environment that were found at its start. */
  readonly findings: readonly Finding[];
}

/** A stored trajectory without its turns. */
export interface TrajectorySummary {
  readonly run: string;
  readonly iteration: number;
  readonly phase: string;
  readonly id: string;
  readonly task: string;
  readonly episode: string;
  readonly role: string;
  readonly origin: string;
  readonly success?: boolean;
  readonly reward?: number;
  readonly turns: number;
  readonly end: string;
  readonly kept: string;
}

/** A trajectory that was searched for, with its words and without its tokens. */
export interface FoundTrajectory extends TrajectorySummary {
  readonly words: TrajectoryWords;
}

/** A stored trajectory with its turns and tokens. `advantage` has one number per action token. */
export interface StoredTrajectory extends TrajectorySummary {
  readonly trajectory: Trajectory;
  readonly advantage?: Float32Array;
}

/** Selects trajectories of a run; all given fields must match. */
export interface TrajectoryFilter {
  readonly iteration?: number;
  readonly phase?: string;
  readonly task?: string;
  /** An id, or the beginning of one. */
  readonly id?: string;
  /** Only those that failed, or did not succeed. */
  readonly failed?: boolean;
  readonly limit?: number;
}

/** Filter for the trajectories of a run. */
export interface TrajectorySearch {
  /** Iterations, half-open. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly phase?: string | undefined;
  /** The task's id. */
  readonly task?: string | undefined;
  readonly outcome?: Outcome | undefined;
  /** Rewards, both ends included. */
  readonly least?: number | undefined;
  readonly most?: number | undefined;
  /** Stands somewhere in the transcript, in upper or lower case. */
  readonly text?: string | undefined;
  readonly order: "newest" | "best" | "worst" | "longest";
  readonly offset: number;
  readonly limit: number;
}
/** How a trajectory ended, as a filter: "done" is an end without a success value. */
export type Outcome = "success" | "no success" | "done" | "truncated" | "failed";

/** The value of one metric at one iteration of a run. */
export interface Metric {
  readonly iteration: number;
  readonly name: string;
  readonly value: number;
}

/** Of one metric over the iterations `block * width` to before `(block + 1) * width`. */
export interface Extremes {
  readonly block: number;
  readonly name: string;
  readonly low: number;
  readonly high: number;
}

/** The episodes of a task and role in training, over the iterations `block * width` to before `(block + 1) * width`. */
export interface TaskBlock {
  readonly block: number;
  readonly task: string;
  readonly role: string;
  readonly episodes: number;
  /** Episodes whose end says whether they succeeded, and those that did. */
  readonly rated: number;
  readonly successes: number;
  /** Mean reward; NaN where none is known. */
  readonly reward: number;
  /** Iterations in which it was trained on, and those in which every episode got the same reward: they teach nothing. */
  readonly groups: number;
  readonly dead: number;
}

/** Success over the tasks of a split. `iteration` counts the iterations trained before it. */
export interface Evaluation {
  readonly when: "before" | "during" | "after";
  readonly iteration: number;
  readonly split: string;
  readonly mode: string;
  readonly success: Interval;
  readonly reward: number;
  readonly turns: number;
  readonly tasks: number;
  readonly failed: number;
  readonly seconds: number;
  /** Share of the split's tasks that are trained on as well, 0 to 1: above 0, this is not held-out success. */
  readonly trainedShare: number;
  /** One sign for each task, in the order of the split: 1 success, 0 none, - failed. */
  readonly outcomes?: string;
}

/** Runs with their metrics, trajectories, evaluations and artefacts, on SQLite or PostgreSQL. */
export interface RunStore {
  /** The file, or the connection URL without its password. */
  readonly file: string;
  /** Adds the run; one that is there already (a resumed one) is set running again. */
  startRun(run: RunStart): Promise<void>;
  /** Stores the problems found in the run's environment, replacing earlier ones. */
  saveFindings(run: string, findings: readonly Finding[]): Promise<void>;
  finishRun(run: string, state: Exclude<RunState, "running">, summary?: Json): Promise<void>;
  /** Removes a run that never began; a run with metrics stays. */
  dropRun(run: string): Promise<void>;
  /** Writes an iteration in one transaction, replacing its earlier data, and applies the retention rule. */
  saveIteration(
    run: string,
    iteration: number,
    rows: { readonly metrics: Stats; readonly trajectories: readonly Saved[] },
  ): Promise<void>;
  /** Examples are always kept. */
  saveEvaluation(run: string, evaluation: Evaluation, examples?: readonly Saved[]): Promise<void>;
  /** Removes iterations from this one on, and evaluations of policies trained for longer, since the run resumes here. */
  rewind(run: string, iteration: number): Promise<void>;
  /** The last started first. */
  runs(): Promise<readonly Run[]>;
  /** By id, name or folder, or the unique beginning of an id or name. Nothing when there is none. */
  run(name: string): Promise<Run | undefined>;
  /** By iteration, then name. */
  metrics(run: string): Promise<readonly Metric[]>;
  /**
   * Some metrics at evenly spaced iterations, at most `points` of them and the last one included; by iteration, then name.
   * Costs the same however long the run is.
   */
  curves(
    run: string,
    names: readonly string[],
    points: number,
    within?: { readonly from: number; readonly until: number },
  ): Promise<readonly Metric[]>;
  /**
   * Lowest and highest value of every metric in blocks of `width` iterations, of which the first begins at 0. Reads all
   * values of those iterations; a metric without one has no block.
   */
  extremes(
    run: string,
    width: number,
    within: { readonly from: number; readonly until: number },
  ): Promise<readonly Extremes[]>;
  /** Names of the last iteration's metrics, and how many iterations were written. */
  measured(run: string): Promise<{ readonly names: readonly string[]; readonly iterations: number }>;
  /** The tasks that were trained on, in blocks of `width` iterations of which the first begins at 0; by block, then task and role. */
  taskBlocks(run: string, width: number): Promise<readonly TaskBlock[]>;
  /** The first words of the tasks that were trained on. */
  taskWords(run: string): Promise<ReadonlyMap<string, string>>;
  evaluations(run: string): Promise<readonly Evaluation[]>;
  trajectories(run: string, filter?: TrajectoryFilter): Promise<readonly TrajectorySummary[]>;
  /** One page of those that fit, and how many there are. */
  searchTrajectories(
    run: string,
    search: TrajectorySearch,
  ): Promise<{ readonly found: readonly FoundTrajectory[]; readonly total: number }>;
  /**
   * The same by task: one page of groups, and how many there are. A group holds the trajectories that fit of one iteration, phase,
   * task and role, at most 64 of them. Groups are ordered by their best, worst or longest trajectory.
   */
  searchGroups(
    run: string,
    search: TrajectorySearch,
  ): Promise<{ readonly found: readonly (readonly FoundTrajectory[])[]; readonly total: number }>;
  /** With its turns and tokens: the first that fits. */
  trajectory(run: string, filter: TrajectoryFilter): Promise<StoredTrajectory | undefined>;
  /** Words that people gave to runs, by run. */
  tags(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Replaces the tags of a run. */
  setTags(run: string, tags: readonly string[]): Promise<void>;
  /** All versions of the artefacts that agents used; see also `Production`. */
  readonly artefacts: ArtefactStore;
  close(): Promise<void>;
}
