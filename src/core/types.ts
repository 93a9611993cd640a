/** Core types: tasks, turns, trajectories and how they end. */
import type { Json } from "./json.ts";

/** A name that identifies one thing among others of its kind, such as a task, trajectory or version. */
export type Id = string;
/** Role in an episode: "agent" alone, or "white" and "black", "proposer" and "solver"… */
export type Role = string;
/** Name of a model of the run, e.g. "policy", "critic". */
export type ModelId = string;
/** Named numbers of one kind of measurement. A name that is absent was not measured; it is never a 0. */
export type Stats = Record<string, number>;

/** A call of a tool that a model makes in a message; the tool's message that answers it carries its `id`. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/**
 * One message of a conversation. `toolCalls` are the calls that an assistant's message makes; `toolCallId` names the call
 * that a tool's message answers.
 */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly name?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
  /** Tools offered to the policy from here on. The chat template decides where they appear; without one, after the content. */
  readonly tools?: readonly Tool[];
}

/** A tool that an environment offers, in JSON Schema. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json;
}

/** Default type of task metadata: any JSON. */
export type Metadata = Readonly<Record<string, Json>>;

/**
 * A task. Task *state* (accuracy history, last seen) belongs to the data slot.
 * @typeParam Meta the author's own type of the metadata: a plain interface whose values are JSON.
 */
export interface Task<Meta extends object = Metadata> {
  readonly id: Id;
  readonly prompt: readonly Message[];
  /** The reference (gold) answer, if any. */
  readonly reference?: string;
  readonly metadata: Readonly<Meta>;
  /** Seed of all randomness in this task's environment. */
  readonly seed: number;
}

/** How an episode ended. Truncation by a limit is distinct from a regular end; a failed episode gives no reward. */
export type Ending =
  | { readonly kind: "done"; readonly reason: string; readonly success?: boolean }
  | { readonly kind: "truncated"; readonly limit: "turns" | "tokens" | "seconds"; readonly at: number }
  | {
      readonly kind: "failed";
      readonly boundary: "environment" | "model" | "tool" | "sandbox" | "judge";
      readonly message: string;
    };

/** Half-open range of action tokens within one turn. */
export type Span = readonly [from: number, to: number];

/** For each token of an action, the ids that were allowed there. */
export type AllowedTokens = readonly Int32Array[];

/** Why a generation stopped: end-of-sequence token, stop string, token limit, or cut from outside. */
export type StopReason = "eos" | "stop" | "length" | "cut";

/**
 * The exact token ids of a turn, as sampled. Action ids are never recomputed from text. `prompt` and `action` are views on an
 * array that the trajectory's turns share as long as each prompt continues the turn before: they must not be written to.
 */
export interface TurnTokens {
  readonly prompt: Int32Array;
  readonly action: Int32Array;
  /** ln p(token) at temperature 1 over the full vocabulary, [action]. Training compares with it. */
  readonly logp: Float32Array;
  /** ln p(token) under the sampling (behaviour) distribution, [action]. Importance ratios use it. */
  readonly behaviour: Float32Array;
  /** Entropy in nats of the full distribution, [action], where the sampler returned it. */
  readonly entropy?: Float32Array;
  readonly allowed?: AllowedTokens;
  /** 1 where a token was forced and not chosen by the policy, [action]. */
  readonly forced?: Uint8Array;
}

/**
 * One action of one role: its whole prompt, the action, and the result. The turns of an episode share one conversation: each
 * access of `prompt` makes a new array of the same messages.
 */
export interface Turn {
  readonly role: Role;
  readonly model: ModelId;
  /** Version of the weights (or prompt, or memory) that acted. */
  readonly version: string;
  readonly prompt: readonly Message[];
  readonly action: Message;
  readonly tokens?: TurnTokens;
  /** Named parts of the action, e.g. `thought`, `call`. */
  readonly spans: Readonly<Record<string, readonly Span[]>>;
  readonly stop: StopReason;
  /** Named rewards that the environment gave for this action; true and shaped rewards have separate names. */
  readonly rewards: Readonly<Record<string, number>>;
  /** Ids of the lessons, cases or examples of an artefact that its prompt contains. */
  readonly shown?: readonly Id[];
  /** The environment's feedback text on this action, as distinct from an observation. */
  readonly text?: string;
  /** Equal keys mean equal states of the environment before the action. */
  readonly stateKey?: string;
  /** Wall-clock duration of the action in milliseconds. Reported but never trained on, since it is not reproducible. */
  readonly ms: number;
}

/**
 * How a trajectory came about: sampled from a policy, replayed, imagined by a learned model without the environment,
 * demonstrated by a player or person, or logged in production.
 */
export type Origin = "sampled" | "replayed" | "imagined" | "demonstrated" | "logged";

/** The turns of one role in one episode. */
export interface Trajectory {
  readonly id: Id;
  readonly task: Id;
  /** Shared by all roles of one episode. */
  readonly episode: Id;
  readonly role: Role;
  readonly turns: readonly Turn[];
  readonly end: Ending;
  readonly origin: Origin;
  readonly lineage?: {
    readonly parent: Id;
    readonly turn: number;
    readonly why: "retry" | "branch" | "rewrite";
  };
}

/** A unit of comparison: one trajectory by default, or a pair, a data set, a plan. */
export interface Unit {
  readonly id: Id;
  /** Units of equal group are compared with each other. Set after the rollout. */
  readonly group: Id;
  readonly members: readonly Id[];
}

/** A reference to a whole trajectory, one of its turns, or a span of action tokens within a turn. */
export interface Ref {
  readonly trajectory: Id;
  readonly turn?: number;
  readonly span?: Span;
}

/** True when the episode reached a regular end and the environment reported success. */
export function succeeded(t: Trajectory): boolean {
  return t.end.kind === "done" && t.end.success === true;
}

/** Number of action tokens in a trajectory. */
export function actionTokens(t: Trajectory): number {
  let n = 0;
  for (const turn of t.turns) n += turn.tokens?.action.length ?? 0;
  return n;
}

/** Sum of the environment's rewards, over all turns and names. */
export function paid(t: Trajectory): number {
  let sum = 0;
  for (const turn of t.turns) for (const reward of Object.values(turn.rewards)) sum += reward;
  return sum;
}
