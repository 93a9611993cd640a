/** Things that act and things that have weights. */
import type { Batch, TokenRows } from "./batch.ts";
import type { Chat } from "./chat.ts";
import type { Cotangents, Outputs, Wanted } from "./outputs.ts";
import type { AllowedTokens, Message, ModelId, Stats, StopReason } from "./types.ts";

/** What a model can do beyond acting. A method names what it needs; a missing one fails before the run. */
export const capabilities = [
  "tokens", // samples token ids with log-probabilities
  "mix", // samples with its logits mixed with another model's
  "logp",
  "entropy",
  "topk",
  "at",
  "heads",
  "hidden",
  "inputGradient",
  "train", // accumulate and step
  "freeze",
  "fork",
  "gradients",
] as const;
export type Capability = (typeof capabilities)[number];

export type GradientId = string;

export interface SampleRequest {
  readonly prompt: Int32Array;
  readonly maxTokens: number;
  /** Default 1. 0 takes the most probable token, the lowest id on a tie. */
  readonly temperature?: number;
  /** Keeps the most probable tokens that together reach this share, in (0, 1]. */
  readonly topP?: number;
  /** Keeps so many of the most probable tokens. */
  readonly topK?: number;
  /** Keeps tokens at least this probable relative to the most probable one, in [0, 1]. */
  readonly minP?: number;
  /** Texts that end the reply. */
  readonly stop?: readonly string[];
  /** Tokens that end the reply, beside the model's own end. */
  readonly stopTokens?: readonly number[];
  /** What may be written at each token; beyond the list, anything. */
  readonly allowed?: AllowedTokens;
  /** Whole replies of which one is written; its last token ends the reply. None may begin with another. Excludes `allowed`. */
  readonly choices?: readonly Int32Array[];
  /**
   * Draws each token from logits (1 − share) · own + share · those of `of`: a geometric mixture, token by token. What
   * narrows the choice narrows the mixture. `logp` stays the model's own, `behaviour` is the mixture's. Needs "mix".
   */
  readonly mix?: { readonly of: Frozen; readonly share: number };
  /** All randomness of this request. */
  readonly seed: number;
  /** In place of `seed`, where the engine can draw several at once; others leave it aside. */
  readonly draw?: Draw;
}

/**
 * One of several draws at the same prompt, made in one call. Which of them depends on these numbers and the prompt alone,
 * whatever else is asked for, and when.
 */
export interface Draw {
  readonly seed: number;
  /** From 0, below `of`. */
  readonly index: number;
  readonly of: number;
}

export interface Sample {
  readonly action: Int32Array;
  readonly logp: Float32Array;
  readonly behaviour: Float32Array;
  readonly entropy?: Float32Array;
  /** What was allowed at each token, where all of them were restricted. */
  readonly allowed?: AllowedTokens;
  readonly stop: StopReason;
  /** Version of the weights that sampled it. */
  readonly version: string;
}

/** Text to token ids and back, and how a conversation becomes one sequence that only ever grows. */
export interface Codec {
  readonly vocabulary: number;
  readonly padId: number;
  readonly endId: number;
  encode(text: string): Int32Array;
  /** Special tokens are left out. */
  decode(ids: Int32Array): string;
  /** The whole prompt, up to where the reply begins. */
  open(messages: readonly Message[]): Int32Array;
  /** What follows a reply in the same sequence: its end, if it stopped without one, the new messages, and the opening of the next reply. */
  extend(stop: StopReason, messages: readonly Message[]): Int32Array;
}

/** A fixed or slowly blended version of a model: reference, old policy, teacher, opponent. */
export interface Frozen {
  readonly version: string;
  readonly codec: Codec;
  sample(requests: readonly SampleRequest[]): Promise<Sample[]>;
  score(rows: TokenRows, want?: Wanted): Promise<Outputs>;
  /** θ ← (1 − rate) θ + rate θ_model. */
  blend(model: Model, rate: number): Promise<void>;
  /** Writes the weights into an existing folder. */
  save(folder: string): Promise<void>;
  dispose(): Promise<void>;
}

/** One optimiser step. */
export interface StepRule {
  /** Default "adamw". "sgd" is plain descent: θ ← θ − rate · gradient. */
  readonly optimiser?: "adamw" | "sgd";
  /** AdamW step size. */
  readonly learningRate: number;
  /** Largest global gradient norm. Default: no clipping. */
  readonly clip?: number;
  /** Decoupled weight decay, per step and unit of learning rate. Default 0. */
  readonly weightDecay?: number;
  readonly betas?: readonly [number, number];
  readonly epsilon?: number;
  /** Other learning rates for named parameter groups. */
  readonly groups?: Readonly<Record<string, { readonly learningRate: number }>>;
  /** Decoupled pull of the weights towards a frozen model. */
  readonly pull?: { readonly toward: Frozen; readonly strength: number };
}

/** What {@link Model.step} measured: at least `gradientNorm` before clipping. */
export type StepStats = Stats;

export interface Model {
  readonly id: ModelId;
  /** It talks, and no more: its episodes are played in words, without tokens, and it can do none of the rest. */
  readonly chat?: Chat;
  /** Changes with every step. */
  readonly version: string;
  readonly can: ReadonlySet<Capability>;
  readonly codec: Codec;
  /** As `codec.open`, holding up nobody however long the conversation is. Absent: the codec itself is quick. */
  read?(messages: readonly Message[]): Promise<Int32Array>;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  /** How many numbers are trained; null where only a server knows. */
  readonly parameters: number | null;
  /** Continues each prompt. Requests may be batched with any others; results do not depend on it. */
  sample(requests: readonly SampleRequest[]): Promise<Sample[]>;
  /** Outputs at the targets of each row, without gradient. */
  score(rows: TokenRows, want?: Wanted): Promise<Outputs>;
  /**
   * Forward, evaluate, backward. Gradients add up in buffer `into` until `step`; micro-batching is the engine's affair.
   * Returns the stats of the parts added up, and nothing else: an objective reports its own `loss`.
   */
  accumulate<A>(batch: Batch, loss: Loss<A>, aux: A, into?: GradientId): Promise<Stats>;
  /**
   * ∂loss/∂(embedding of each token of the batch), [N, width of the model] row-major. Changes nothing; a slow path for
   * looking at which inputs mattered.
   */
  inputGradient?<A>(batch: Batch, loss: Loss<A>, aux: A): Promise<Float32Array>;
  step(rule: StepRule): Promise<StepStats>;
  freeze(): Promise<Frozen>;
  fork(optimiser: "copy" | "fresh"): Promise<Model>;
  /** Named gradient buffers: products of them, and a combination that becomes the one `step` uses. */
  readonly gradients?: {
    dot(a: GradientId, b: GradientId): Promise<number>;
    combine(sum: Readonly<Record<GradientId, number>>): Promise<void>;
  };
  /** Writes weights, optimiser state and counters into an existing folder. */
  save(folder: string): Promise<void>;
  load(folder: string): Promise<void>;
  dispose(): Promise<void>;
}

/**
 * A loss as a plain function: from what a model outputs to the cotangents of those outputs. Never sees weights.
 * `evaluate` may be called on any part of the batch that keeps `together` whole; its losses and cotangents add up.
 */
export interface Loss<Aux = unknown> {
  readonly name: string;
  /** What micro-batching must not split. */
  readonly together: "row" | "group" | "batch";
  wants(aux: Aux, batch: Batch): Wanted;
  /** Pure. Stats are sums, so that parts add up; see {@link averageStats} in stats.ts for their names. */
  evaluate(outputs: Outputs, batch: Batch, aux: Aux): Evaluation;
}

export interface Evaluation {
  readonly loss: number;
  readonly cotangents: Cotangents;
  readonly stats: Stats;
}
