/** The vocabulary of the whole system: what is asked, what was done, how it ended. */
import type { Json } from "./json.ts";

export type Id = string;
/** Who acts in an episode: "agent" alone, or "white" and "black", "proposer" and "solver"… */
export type Role = string;
/** Which of a run's models, e.g. "policy", "critic". */
export type ModelId = string;
/** Named numbers of one kind of measurement. A name that is absent was not measured; it is never a 0. */
export type Stats = Record<string, number>;

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly name?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
  /** Tools offered to the policy from here on. They stand where a chat template puts them, else after the content. */
  readonly tools?: readonly Tool[];
}

/** A tool that an environment offers, in JSON Schema. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json;
}

/** What tasks carry beside their prompt, where nobody says more: any JSON. */
export type Metadata = Readonly<Record<string, Json>>;

/**
 * What is asked. Task *state* (accuracy history, last seen) belongs to the data slot.
 * @typeParam Meta the author's own type of the metadata: a plain interface whose values are JSON.
 */
export interface Task<Meta extends object = Metadata> {
  readonly id: Id;
  readonly prompt: readonly Message[];
  /** The gold answer, where there is one. */
  readonly reference?: string;
  readonly metadata: Readonly<Meta>;
  /** Seeds everything random in the environment of this task. */
  readonly seed: number;
}

/** How an episode ended. A limit that cut it off is kept apart from an end; a failure is nobody's reward. */
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

/** Why a generation stopped: the model's end, a stop string, the token limit, or cut from outside. */
export type StopReason = "eos" | "stop" | "length" | "cut";

/** What a token policy read and wrote, exactly as sampled. Action ids are never re-made from text. */
export interface TurnTokens {
  readonly prompt: Int32Array;
  readonly action: Int32Array;
  /** ln p(token) at temperature 1 over the full vocabulary, [action]: what training compares with. */
  readonly logp: Float32Array;
  /** ln p(token) under the distribution really drawn from, [action]: what importance ratios use. */
  readonly behaviour: Float32Array;
  /** Entropy in nats of the full distribution, [action], where the sampler gave it. */
  readonly entropy?: Float32Array;
  readonly allowed?: AllowedTokens;
  /** 1 where a token was forced and is no choice of the policy, [action]. */
  readonly forced?: Uint8Array;
}

/** One action of one role: its whole prompt, what it did, and what came of it. */
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
  /** Named rewards that the environment paid for this action; true and shaped ones apart. */
  readonly rewards: Readonly<Record<string, number>>;
  /** Lessons, cases or examples of an artefact that its prompt shows. */
  readonly shown?: readonly Id[];
  /** What the environment said about this action, if it is feedback rather than an observation. */
  readonly text?: string;
  /** Equal keys mean equal states of the environment before the action. */
  readonly stateKey?: string;
  /** Wall-clock duration of the action. Reported, never trained on: it is not reproducible. */
  readonly ms: number;
}

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

/** What is compared: one trajectory by default; a pair, a data set, a plan. */
export interface Unit {
  readonly id: Id;
  /** Units with equal keys are compared with each other. Computed after the rollout. */
  readonly group: Id;
  readonly members: readonly Id[];
}

/** A place: a whole trajectory, one of its turns, or a span of action tokens within a turn. */
export interface Ref {
  readonly trajectory: Id;
  readonly turn?: number;
  readonly span?: Span;
}

/** True when the episode ended by itself and the environment called it a success. */
export function succeeded(t: Trajectory): boolean {
  return t.end.kind === "done" && t.end.success === true;
}

/** Number of action tokens in a trajectory. */
export function actionTokens(t: Trajectory): number {
  let n = 0;
  for (const turn of t.turns) n += turn.tokens?.action.length ?? 0;
  return n;
}

/** Everything that the environment paid, over all turns and names. */
export function paid(t: Trajectory): number {
  let sum = 0;
  for (const turn of t.turns) for (const reward of Object.values(turn.rewards)) sum += reward;
  return sum;
}
