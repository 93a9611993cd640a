/** What the dashboard's server says to its pages: plain JSON, read by `web/` as types alone. */
import type { ArtefactPart, PartChange } from "../../common/artefacts/diff.ts";
import type { foldedDiff } from "../../common/text/lineDiff.ts";
import type { Interval } from "../../core/interval.ts";
import type { Json } from "../../core/json.ts";
import type { ReceivedSignal, Scope } from "../../core/served.ts";
import type { HealthReport } from "../../diagnose/health/health.ts";
import type { Dropped } from "../../exchange/derived.ts";
import type { StoredEvidence } from "../../methods/evidence.ts";
import type { RunState } from "../../store/schema.ts";
import type { Evaluation } from "../../store/store.ts";
import type { CheckEvidence } from "../../train/check.ts";
import type { Computed } from "./computed.ts";

/** A number as JSON has it: NaN is null. */
export type Value = number | null;

/** Null where there is no end: one observation alone. */
export interface Range {
  readonly mean: Value;
  readonly low: Value;
  readonly high: Value;
  readonly n: number;
}

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
  /** Of a run that goes on: till now. */
  readonly seconds: number;
  /** Iterations that were written. */
  readonly iterations: number;
  /** Held out, after the run. */
  readonly success?: Interval;
  /** Success on practised tasks over the run, evenly sampled. */
  readonly spark: readonly Value[];
  /** Words that people gave it; a run tagged "archived" is out of the way. */
  readonly tags: readonly string[];
}

export interface RunsPage {
  readonly runs: readonly RunRow[];
}

/** What differs from what was said before on one connection. The first words say all, the last started runs first. */
export interface RunsChange {
  readonly changed: readonly RunRow[];
  /** Ids of runs that are there no more. */
  readonly gone: readonly string[];
  /** Runs in the store, those included that the next words will be about. */
  readonly total: number;
}

export interface RunDetail extends RunRow {
  /** Its engine, with the server and the staleness where it has them, in words. */
  readonly computed: string;
  readonly folder: string;
  readonly config: Json;
  readonly evaluations: readonly Evaluation[];
  /** All metrics that have curves. */
  readonly metrics: readonly string[];
  readonly health: HealthReport;
}

/** Curves over the same iterations, thinned to what a chart can show. */
export interface Curves {
  readonly iteration: readonly number[];
  readonly values: Readonly<Record<string, readonly Value[]>>;
  /** What was asked for besides: lowest and highest from each iteration that is shown to before the next one. */
  readonly ranges?: Readonly<Record<string, Extent>>;
}

/** One number for each iteration of the curves; null where nothing was measured. */
export interface Extent {
  readonly low: readonly Value[];
  readonly high: readonly Value[];
}

export interface EpisodeRow {
  readonly iteration: number;
  readonly phase: string;
  readonly id: string;
  readonly task: string;
  readonly role: string;
  readonly reward: Value;
  readonly turns: number;
  /** "success", "no success", "truncated", "failed", or "done" where nobody judged. */
  readonly outcome: string;
  /** The first words that the policy said. */
  readonly said?: string;
}

export interface EpisodesPage {
  readonly episodes: readonly EpisodeRow[];
  /** Of all that fit, how many there are. */
  readonly total: number;
  readonly offset: number;
}

export interface SaidMessage {
  readonly role: string;
  readonly content: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
}

/** Numbers of one turn's action tokens, in order. */
export interface TokenLayers {
  /** Texts of the tokens; absent where the run carries no tokenizer. */
  readonly pieces?: readonly string[];
  readonly ids: readonly number[];
  readonly logp: readonly Value[];
  readonly entropy?: readonly Value[];
  readonly advantage?: readonly Value[];
  /** 1: no choice of the policy. */
  readonly forced?: readonly number[];
}

export interface EpisodeTurn {
  /** What was new to read before this action. */
  readonly read: readonly SaidMessage[];
  readonly action: SaidMessage;
  readonly role: string;
  readonly stop: string;
  readonly rewards: Readonly<Record<string, number>>;
  /** What was said about this action. */
  readonly text?: string;
  readonly version: string;
  readonly ms: number;
  readonly tokens?: TokenLayers;
  readonly spans: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

/** A place in the family of episodes of one task and iteration. */
export interface Relative {
  readonly id: string;
  readonly phase: string;
  readonly iteration: number;
  readonly outcome: string;
  readonly reward: Value;
  /** The one it came from, from which turn, and why; absent: played from the start. */
  readonly parent?: { readonly id: string; readonly turn: number; readonly why: string };
}

export interface EpisodeDetail extends EpisodeRow {
  readonly run: string;
  readonly origin: string;
  readonly end: string;
  readonly conversation: readonly EpisodeTurn[];
  /** Itself among its siblings, retries and branches. */
  readonly family: readonly Relative[];
}

export interface MethodRow {
  readonly id: string;
  readonly kind: "method" | "diagnostic";
  readonly family: string;
  readonly summary: string;
  readonly paper?: string;
  /** Slots in which it differs from the baseline. */
  readonly differs: readonly string[];
  readonly verdict?: CheckEvidence["verdict"];
  readonly effect?: number;
}

export interface MethodsPage {
  /** What was asked for, the best first; all of them in their order where nothing was. */
  readonly methods: readonly MethodRow[];
  readonly families: readonly string[];
  /** Of all methods, not of those found. */
  readonly total: number;
}

export interface MethodDetail extends MethodRow {
  readonly mechanism?: string;
  readonly equation?: string;
  readonly source?: string;
  readonly law?: string;
  readonly needs: readonly string[];
  /** Every slot in the order that data runs, with its pieces' names where they have any. */
  readonly slots: readonly {
    readonly slot: string;
    readonly pieces: readonly string[];
    readonly differs: boolean;
  }[];
  /** Settings that differ from the common defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly evidence?: StoredEvidence;
  readonly command: string;
}

/** Runs of one method in one environment on one engine with one staleness, which differ in their seeds. */
export interface ComparedGroup extends Computed {
  readonly env: string;
  readonly method: string;
  readonly runs: readonly Pick<RunRow, "id" | "name" | "seed" | "state" | "success">[];
  /** Success in practice: mean over runs with 95 % t interval, over the iterations that all of them have. */
  readonly iteration: readonly number[];
  readonly mean: readonly Value[];
  readonly low: readonly Value[];
  readonly high: readonly Value[];
  /** Held-out success: 95 % t interval over runs. Absent where no run was evaluated. */
  readonly heldOut?: Range;
  /** Against the first group of the same environment, on the seeds that both have. */
  readonly against?: {
    readonly difference: Range;
    /** Probability that a run of it beats a run of the first, ties counting half. */
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
  /** What it is about, where that is one reply that is known. */
  readonly reply?: {
    readonly response: string;
    readonly session: string;
    readonly version: string;
    /** The last that the user said before it. */
    readonly asked: string;
    readonly said: string;
  };
  /** Whether somebody should look at it: a correction, a word of complaint, a low value. */
  readonly wanting: boolean;
  /** What learning makes of a correction or demonstration. */
  readonly becomes?: Becomes;
  /** What a reviewer made of it last. */
  readonly reviewed?: { readonly verdict: string; readonly by: string; readonly at: number };
}

export type Becomes =
  | {
      /** The pair, of a correction: the reply as it should have been, over the reply as it was. */
      readonly chosen?: string;
      readonly rejected?: string;
      /** The demonstration: a reply to learn as it stands. */
      readonly shown: string;
    }
  /** Nothing is learnt from it. */
  | { readonly nothing: Dropped["why"] };

export interface InboxPage {
  /** The last that arrived first. */
  readonly items: readonly InboxItem[];
  /** Of these, those that want a look and had none. */
  readonly waiting: number;
}

/** How well a version of an artefact did somewhere. */
export interface ArtefactSuccess {
  /** Name of an environment and its split. */
  readonly where: string;
  /** The run that measured it. */
  readonly run?: string;
  readonly success: Range;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A version that answers with an artefact. */
export interface ServedAs {
  readonly version: string;
  readonly name: string;
  /** Of the traffic, by the split that counts. Absent: no split names it. */
  readonly share?: number;
}

/** A version of an artefact as it stands in a lineage. */
export interface ArtefactRow {
  readonly id: string;
  readonly name: string;
  /** "instruction set", "experience library"… */
  readonly is: string;
  /** Lessons, cases or examples. */
  readonly parts: number;
  readonly parents: readonly string[];
  readonly why: string;
  /** Who made it: "person", "feedback", "reflection"… */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Parts that were erased since. */
  readonly erased?: number;
  /** How much was read when it was made. */
  readonly from: { readonly signals: number; readonly sessions: number; readonly episodes: number };
  /** Oldest first. */
  readonly success: readonly ArtefactSuccess[];
  readonly served: readonly ServedAs[];
}

export interface ArtefactsPage {
  /** The last made, oldest of them first. */
  readonly artefacts: readonly ArtefactRow[];
  /** Of all versions, how many there are. */
  readonly total: number;
}

export interface ArtefactDetail extends ArtefactRow {
  readonly contents: readonly ArtefactPart[];
  /** Against each version that it was made from, as far as these are known. */
  readonly changes: readonly {
    readonly before: string;
    /** With the lines around what changed; see {@link foldedDiff}. */
    readonly parts: readonly FoldedChange[];
    /** Parts that are the same in both. */
    readonly same: number;
  }[];
  /** What it was made from and what was made from it, over generations, oldest first: itself among them. */
  readonly lineage: readonly ArtefactRow[];
  /** The feedback that led to it, as far as it is still there, with the session that it is about. */
  readonly feedback: readonly { readonly signal: ReceivedSignal; readonly session?: string }[];
  readonly sessions: readonly string[];
  /** Episodes of runs that were read when it was made; with the place where one is still kept. */
  readonly episodes: readonly { readonly id: string; readonly at?: EpisodePlace }[];
  /** Splits that gave a version with it a share, oldest first. */
  readonly splits: readonly {
    readonly since: number;
    readonly shares: readonly { readonly version: string; readonly share: number }[];
    readonly why: string;
  }[];
}

export interface FoldedChange extends Omit<PartChange, "lines"> {
  readonly lines: ReturnType<typeof foldedDiff>;
}

/** Where an episode is found among those of its run. */
export interface EpisodePlace {
  readonly run: string;
  readonly phase: string;
  readonly iteration: number;
}

/** Who looks at the pages. */
export interface WhoBody {
  readonly scopes: readonly Scope[];
  /** Milliseconds since 1970 at which the session ends. Absent: on this machine, or by a key that comes with each request. */
  readonly expires?: number;
}
