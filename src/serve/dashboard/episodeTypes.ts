/** JSON types of the dashboard's API: episodes. */
import type { Value } from "./numberTypes.ts";

export interface EpisodeRow {
  readonly iteration: number;
  readonly phase: string;
  readonly id: string;
  readonly task: string;
  readonly role: string;
  readonly reward: Value;
  readonly turns: number;
  /** "success", "no success", "truncated", "failed", or "done" if the environment gave no verdict on success. */
  readonly outcome: string;
}

/** An episode that was searched for. */
export interface FoundEpisode extends EpisodeRow {
  /** The beginning of what was asked. */
  readonly asked: string;
  /** The beginning of what the agent did: in its last turn, or, within a group, in the turn in which the group parts. */
  readonly did: string;
}

/** Episodes of one task, side by side. */
export interface EpisodeGroup {
  readonly task: string;
  readonly role: string;
  readonly iteration: number;
  readonly phase: string;
  readonly asked: string;
  /** The first turn, from 0, in which not all did the same. Absent: all did the same, or there is one. */
  readonly parts?: number;
  readonly episodes: readonly FoundEpisode[];
}

export interface EpisodeGroupsPage {
  readonly groups: readonly EpisodeGroup[];
  /** Number of all matching groups. */
  readonly total: number;
  readonly offset: number;
}

export interface EpisodesPage {
  readonly episodes: readonly FoundEpisode[];
  /** Number of all matching episodes. */
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
  /** Texts of the tokens; absent if the run's folder has no tokenizer. */
  readonly pieces?: readonly string[];
  readonly ids: readonly number[];
  readonly logp: readonly Value[];
  readonly entropy?: readonly Value[];
  readonly advantage?: readonly Value[];
  /** 1: the token was forced, the policy had no choice. */
  readonly forced?: readonly number[];
}

export interface EpisodeTurn {
  /** The new messages before this action. */
  readonly read: readonly SaidMessage[];
  readonly action: SaidMessage;
  readonly role: string;
  readonly stop: string;
  readonly rewards: Readonly<Record<string, number>>;
  /** Feedback text about this action. */
  readonly text?: string;
  readonly version: string;
  readonly ms: number;
  readonly tokens?: TokenLayers;
  readonly spans: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

/** An episode of the same task and iteration. */
export interface Relative {
  readonly id: string;
  readonly phase: string;
  readonly iteration: number;
  readonly outcome: string;
  readonly reward: Value;
  /** The episode that it branched from, at which turn, and why; absent: played from the start. */
  readonly parent?: { readonly id: string; readonly turn: number; readonly why: string };
}

export interface EpisodeDetail extends EpisodeRow {
  readonly run: string;
  readonly origin: string;
  readonly end: string;
  readonly conversation: readonly EpisodeTurn[];
  /** The episode itself, its siblings, retries and branches. */
  readonly family: readonly Relative[];
}
