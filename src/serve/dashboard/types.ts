/** JSON types of the dashboard's API; `web/` imports them as types only. */

import type { ArtefactPart, PartChange } from "../../common/artefacts/diff.ts";
import type { foldedDiff } from "../../common/text/lineDiff.ts";
import type { Interval } from "../../core/interval.ts";
import type { Json } from "../../core/json.ts";
import type { ReceivedSignal, Scope } from "../../core/served.ts";
import type { HealthReport } from "../../diagnose/health/health.ts";
import type { Frontier, Standing } from "../../diagnose/tasks.ts";
import type { Dropped } from "../../exchange/derived.ts";
import type { StoredEvidence } from "../../methods/evidence.ts";
import type { Opponents } from "../../methods/opponents.ts";
import type { Evaluation } from "../../store/runStore.ts";
import type { RunState } from "../../store/schema.ts";
import type { CheckEvidence } from "../../train/check.ts";
import type { Computed } from "./computed.ts";
import type { Range, Value } from "./numberTypes.ts";

export type * from "./comparisonTypes.ts";
export type * from "./episodeTypes.ts";
export type * from "./leagueTypes.ts";
export type * from "./numberTypes.ts";

export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly env: string;
  readonly method: string;
  readonly engine: string;
  readonly seed: number;
  readonly state: RunState;
  /** Why it failed. */
  readonly error?: string;
  /** ISO 8601 in UTC. */
  readonly started: string;
  /** Of a running run: until now. */
  readonly seconds: number;
  /** When it last wrote something, ISO 8601 in UTC. */
  readonly seen: string;
  /** Iterations that were written. */
  readonly iterations: number;
  /** Held-out success after the run. */
  readonly success?: Interval;
  /** Success on training tasks over the run, evenly sampled. */
  readonly spark: readonly Value[];
  /** Tags that people gave it; a run tagged "archived" is hidden from the list. */
  readonly tags: readonly string[];
}

export interface RunsPage {
  readonly runs: readonly RunRow[];
}

/** Differences to what one connection has sent before. The first messages send all runs, last started first. */
export interface RunsChange {
  readonly changed: readonly RunRow[];
  /** Ids of removed runs. */
  readonly gone: readonly string[];
  /** Number of runs in the store, including those that later messages will send. */
  readonly total: number;
}

export interface RunDetail extends RunRow {
  /** Its engine, with the server and the staleness where it has them, in words. */
  readonly computed: string;
  readonly folder: string;
  readonly config: Json;
  readonly evaluations: readonly Evaluation[];
  /** Success over the run by split and way of choosing actions, the most telling first. */
  readonly progress: readonly Progress[];
  /** All metrics that have curves. */
  readonly metrics: readonly string[];
  readonly health: HealthReport;
}

/** Success after so many iterations of training, with its 95 % interval. */
export interface Measured {
  readonly iteration: number;
  readonly success: Range;
}

/** How success on one split went over a run. */
export interface Progress {
  readonly split: string;
  /** "sampled" or "greedy". */
  readonly mode: string;
  /** Share of its tasks that are trained on as well: above 0, this is not held-out success. */
  readonly trainedShare: number;
  readonly tasks: number;
  /** Before training. */
  readonly before?: Measured;
  /** After the run, or the last validation so far. Absent: measured once. */
  readonly latest?: Measured;
  /** Whether `latest` was measured after the run. */
  readonly ended?: boolean;
  /** Latest less before, paired by task, where each task's outcome is known; tasks that were gained and lost. */
  readonly change?: { readonly difference: Range; readonly gained: number; readonly lost: number };
  /** Every measurement, in order. */
  readonly curve: readonly Measured[];
}

/** Curves over the same iterations, thinned to what a chart can show. */
export interface Curves {
  readonly iteration: readonly number[];
  readonly values: Readonly<Record<string, readonly Value[]>>;
  /** If requested: minimum and maximum from each shown iteration to before the next one. */
  readonly ranges?: Readonly<Record<string, Extent>>;
}

/** One number for each iteration of the curves; null if nothing was measured. */
export interface Extent {
  readonly low: readonly Value[];
  readonly high: readonly Value[];
}

export interface MethodRow {
  readonly id: string;
  readonly kind: "method" | "diagnostic" | "benchmark";
  readonly family: string;
  readonly summary: string;
  readonly paper?: string;
  /** Names of the slots in which it differs from the baseline. */
  readonly differs: readonly string[];
  readonly verdict?: CheckEvidence["verdict"];
  readonly effect?: number;
  /** Why a search found it. */
  readonly why?: string;
}

export interface MethodsPage {
  /** Search results, best first; without a query, all methods in catalogue order. */
  readonly methods: readonly MethodRow[];
  readonly families: readonly string[];
  /** Number of all methods, not only of those found. */
  readonly total: number;
}

export interface MethodDetail extends MethodRow {
  readonly mechanism?: string;
  readonly equation?: string;
  readonly source?: string;
  readonly law?: string;
  readonly needs: readonly string[];
  /** Every slot in the order of the data flow, with the names of its pieces if they have names. */
  readonly slots: readonly {
    readonly slot: string;
    readonly pieces: readonly string[];
    readonly differs: boolean;
  }[];
  /** Settings that differ from the shared defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Options of its own. */
  readonly options: readonly {
    readonly name: string;
    readonly default: number | string | boolean;
    /** What a value has to be, in words. */
    readonly range: string;
    readonly help: string;
  }[];
  readonly evidence?: StoredEvidence;
  /** With the evidence: the arms that ran beside the method, whether its ingredient matters, and what to know beside the verdict. */
  readonly opponents?: Opponents;
  readonly caveats?: readonly string[];
  readonly command: string;
}

/** Runs that differ in their seeds only: same method, environment, engine, staleness and settings. */
export interface ComparedGroup extends Computed {
  readonly env: string;
  readonly method: string;
  /** The settings that set it apart from groups of the same method, environment and engine: "iterations 30, learningRate 0.001". */
  readonly differs?: string;
  readonly runs: readonly Pick<RunRow, "id" | "name" | "seed" | "state" | "success">[];
  /** Training success: mean over runs with 95 % t interval, at the iterations that all runs have. */
  readonly iteration: readonly number[];
  readonly mean: readonly Value[];
  readonly low: readonly Value[];
  readonly high: readonly Value[];
  /** Held-out success: 95 % t interval over runs. Absent if no run was evaluated. */
  readonly heldOut?: Range;
  /** Comparison with the first group of the same environment, on the seeds that both have. */
  readonly against?: {
    readonly difference: Range;
    /** Probability that a run of this group beats a run of the first group; ties count half. */
    readonly improvement: number;
    readonly seeds: readonly number[];
  };
}

export interface ComparePage {
  readonly groups: readonly ComparedGroup[];
}

/** A piece of feedback as a reviewer sees it. */
export interface InboxItem {
  readonly signal: ReceivedSignal;
  /** The reply that it is about, if that is one known reply. */
  readonly reply?: {
    readonly response: string;
    readonly session: string;
    readonly version: string;
    /** The user's last message before it. */
    readonly asked: string;
    readonly said: string;
  };
  /** Whether it needs a review: a correction, a complaint, a low value, or a judge that disagrees with people. */
  readonly wanting: boolean;
  /** For a judge's score: the person's feedback on the same reply that says the opposite. */
  readonly disagrees?: { readonly with: string; readonly value: number };
  /** The training example that a correction or demonstration becomes. */
  readonly becomes?: Becomes;
  /** The last review. */
  readonly reviewed?: { readonly verdict: string; readonly by: string; readonly at: number };
}

export type Becomes =
  | {
      /** A correction becomes a preference pair: the corrected reply over the original reply. */
      readonly chosen?: string;
      readonly rejected?: string;
      /** A demonstration becomes a reply to imitate. */
      readonly shown: string;
    }
  /** Nothing is learnt from it. */
  | { readonly nothing: Dropped["why"] };

export interface InboxPage {
  /** What a judge and people disagree about and nobody has reviewed, then the others; each newest first. */
  readonly items: readonly InboxItem[];
  /** Number of these items that need a review and have none. */
  readonly waiting: number;
}

/** Measured success of an artefact version. */
export interface ArtefactSuccess {
  /** Name of an environment and its split. */
  readonly where: string;
  /** The run that measured it. */
  readonly run?: string;
  readonly success: Range;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A served version that uses an artefact. */
export interface ServedAs {
  readonly version: string;
  readonly name: string;
  /** Share of the traffic in the current split. Absent: the split does not name it. */
  readonly share?: number;
}

/** An artefact version in a lineage. */
export interface ArtefactRow {
  readonly id: string;
  readonly name: string;
  /** "instruction set", "experience library"… */
  readonly is: string;
  /** Number of lessons, cases or examples. */
  readonly parts: number;
  readonly parents: readonly string[];
  readonly why: string;
  /** Who made it: "person", "feedback", "reflection"… */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Number of parts that were erased since. */
  readonly erased?: number;
  /** Number of sources that it was made from. */
  readonly from: { readonly signals: number; readonly sessions: number; readonly episodes: number };
  /** Oldest first. */
  readonly success: readonly ArtefactSuccess[];
  readonly served: readonly ServedAs[];
}

export interface ArtefactsPage {
  /** The most recent versions, oldest first. */
  readonly artefacts: readonly ArtefactRow[];
  /** Number of all versions. */
  readonly total: number;
}

export interface ArtefactDetail extends ArtefactRow {
  readonly contents: readonly ArtefactPart[];
  /** Changes relative to each known parent version. */
  readonly changes: readonly {
    readonly before: string;
    /** Changed parts with context lines; see {@link foldedDiff}. */
    readonly parts: readonly FoldedChange[];
    /** Number of unchanged parts. */
    readonly same: number;
  }[];
  /** Ancestors and descendants over several generations, oldest first, including itself. */
  readonly lineage: readonly ArtefactRow[];
  /** The feedback that it was made from, if still stored, with the session that the feedback is about. */
  readonly feedback: readonly { readonly signal: ReceivedSignal; readonly session?: string }[];
  readonly sessions: readonly string[];
  /** Run episodes that it was made from; `at` is the place of an episode that is still stored. */
  readonly episodes: readonly { readonly id: string; readonly at?: EpisodePlace }[];
  /** Splits in which a version with this artefact had a share, oldest first. */
  readonly splits: readonly {
    readonly since: number;
    readonly shares: readonly { readonly version: string; readonly share: number }[];
    readonly why: string;
  }[];
}

export interface FoldedChange extends Omit<PartChange, "lines"> {
  readonly lines: ReturnType<typeof foldedDiff>;
}

/** The place of an episode in its run. */
export interface EpisodePlace {
  readonly run: string;
  readonly phase: string;
  readonly iteration: number;
}

/** The caller of the pages. */
export interface WhoBody {
  readonly scopes: readonly Scope[];
  /** End of the session, milliseconds since 1970. Absent: a caller on this machine, or one that sends a key with each request. */
  readonly expires?: number;
}

/** A task that a run trained on. */
export interface TaskRow {
  readonly task: string;
  readonly role: string;
  /** Its first words. */
  readonly asked: string;
  readonly standing: Standing;
  readonly episodes: number;
  /** Success in its last sixteen episodes or more. */
  readonly recent: Range;
  /** How much success rose from all episodes before those. */
  readonly change: Value;
  readonly reward: Value;
  readonly groups: number;
  readonly dead: number;
  readonly last: number;
  /** Success in each block of iterations; null where the task was not trained on. */
  readonly shares: readonly Value[];
}

/** Response of `GET /api/runs/:id/tasks`. */
export interface TasksPage {
  readonly run: { readonly id: string; readonly name: string; readonly iterations: number };
  /** Iterations of a block. */
  readonly width: number;
  /** The last iteration of each block, and how many tasks stood where after it. */
  readonly frontier: readonly Frontier[];
  readonly tasks: readonly TaskRow[];
  /** Tasks that fit, and all. */
  readonly fitting: number;
  readonly total: number;
  readonly offset: number;
}
