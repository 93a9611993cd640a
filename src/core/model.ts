/** Models: sampling, scoring and training. */
import type { Batch, TokenRows } from "./batch.ts";
import type { Chat } from "./chat.ts";
import type { Cotangents, Outputs, Wanted } from "./outputs.ts";
import type { AllowedTokens, Message, ModelId, Stats, StopReason } from "./types.ts";

/** Optional capabilities of a model. A method lists those it needs; a missing one fails before the run starts. */
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
/** An optional ability of a model, which a method may need. See {@link capabilities}. */
export type Capability = (typeof capabilities)[number];

/** Name of a buffer in which a model accumulates gradients. */
export type GradientId = string;

/** A request for one continuation of a prompt of token ids, at most `maxTokens` long. */
export interface SampleRequest {
  readonly prompt: Int32Array;
  readonly maxTokens: number;
  /** Default 1. 0 takes the most probable token, the lowest id on a tie. */
  readonly temperature?: number;
  /** Keeps the most probable tokens whose probabilities together reach this value, in (0, 1]. */
  readonly topP?: number;
  /** Keeps this many of the most probable tokens. */
  readonly topK?: number;
  /** Keeps tokens at least this probable relative to the most probable one, in [0, 1]. */
  readonly minP?: number;
  /** Texts that end the reply. */
  readonly stop?: readonly string[];
  /** Tokens that end the reply, in addition to the model's own end token. */
  readonly stopTokens?: readonly number[];
  /** Ids allowed at each position; beyond the end of the list, every id is allowed. */
  readonly allowed?: AllowedTokens;
  /** Complete replies, one of which is sampled; its last token ends the reply. None may be a prefix of another. Excludes `allowed`. */
  readonly choices?: readonly Int32Array[];
  /**
   * Draws each token from logits (1 − share) · own + share · those of `of`: a geometric mixture, token by token. Top-p, top-k
   * and the other restrictions apply to the mixture. `logp` stays the model's own; `behaviour` is the mixture's. Needs "mix".
   */
  readonly mix?: { readonly of: Frozen; readonly share: number };
  /** Seed of all randomness in this request. */
  readonly seed: number;
  /** Replaces `seed` in engines that can draw several samples at once; other engines ignore it. */
  readonly draw?: Draw;
}

/**
 * One of several samples of the same prompt, drawn in one call. The result depends on these numbers and the prompt alone,
 * not on other requests or their timing.
 */
export interface Draw {
  readonly seed: number;
  /** From 0, below `of`. */
  readonly index: number;
  readonly of: number;
}

/**
 * A sampled continuation: its token ids, and for each of them `logp`, ln p at temperature 1 over the full vocabulary,
 * `behaviour`, ln p under the sampling distribution, and `entropy` in nats, each [action].
 */
export interface Sample {
  readonly action: Int32Array;
  readonly logp: Float32Array;
  readonly behaviour: Float32Array;
  readonly entropy?: Float32Array;
  /** Ids allowed at each token, where every token was restricted. */
  readonly allowed?: AllowedTokens;
  readonly stop: StopReason;
  /** Version of the weights that drew the sample. */
  readonly version: string;
  /** Tokens of the prompt that were not computed, since an earlier prompt began alike. Default 0. */
  readonly reused?: number;
}

/** Follows a call of `sample` while it runs. */
export interface SampleWatch {
  /** Called with each token as it is drawn. Engines that draw whole replies never call it. @param request its index. */
  onToken?(request: number, token: number): void;
  /** Nobody waits any more: the call rejects. Engines that cannot stop ignore it. */
  readonly gone?: AbortSignal;
}

/** Tokenizer and chat template: text to token ids and back, and a conversation as one append-only sequence. */
export interface Codec {
  readonly vocabulary: number;
  readonly padId: number;
  readonly endId: number;
  encode(text: string): Int32Array;
  /** Special tokens are left out. */
  decode(ids: Int32Array): string;
  /** The whole prompt, up to the start of the reply. */
  open(messages: readonly Message[]): Int32Array;
  /** Continues the sequence after a reply: the end token if the reply stopped without one, the new messages, and the start of the next reply. */
  extend(stop: StopReason, messages: readonly Message[]): Int32Array;
}

/** A fixed or slowly updated copy of a model: reference, old policy, teacher, opponent. */
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

/** How many models of its architecture a run keeps beside a model. */
export interface ModelsBeside {
  /** Trained, with weights of their own. */
  readonly created: number;
  /** Trained copies, which share the weights that are not trained. */
  readonly copied: number;
  /** Copies that are not trained. */
  readonly frozen: number;
  /** Whether these do not share the weights that are not trained. */
  readonly apart: boolean;
}

/**
 * A model that can be sampled, scored and trained. Log-probabilities are natural logarithms; which of the optional members
 * work is in `can`.
 */
export interface Model {
  readonly id: ModelId;
  /** Set where the model is a chat model only: its episodes have text and no tokens, and the members below are unavailable. */
  readonly chat?: Chat;
  /** Changes with every step. */
  readonly version: string;
  readonly can: ReadonlySet<Capability>;
  readonly codec: Codec;
  /** As `codec.open`, without blocking the event loop on long conversations. Absent where the codec itself is fast. */
  read?(messages: readonly Message[]): Promise<Int32Array>;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  /** Number of trained parameters; null where only a remote server knows it. */
  readonly parameters: number | null;
  /**
   * Bytes of its device's memory that training takes at most; undefined where that is not planned.
   * @param rows conversations that sample at once. @throws WhetstoneError `device.full` where the device cannot give as much.
   */
  plannedMemory?(rows: number, beside?: ModelsBeside): Promise<number | undefined>;
  /** Samples a continuation of each prompt. Results do not depend on how requests are batched. */
  sample(requests: readonly SampleRequest[], watch?: SampleWatch): Promise<Sample[]>;
  /** Outputs at the targets of each row, without gradient. */
  score(rows: TokenRows, want?: Wanted): Promise<Outputs>;
  /**
   * Forward, evaluate, backward. Gradients accumulate in buffer `into` until `step`; the engine chooses micro-batches.
   * Returns the summed stats of the parts and adds none: an objective reports its own `loss`.
   */
  accumulate<A>(batch: Batch, loss: Loss<A>, aux: A, into?: GradientId): Promise<Stats>;
  /**
   * ∂loss/∂(embedding of each token of the batch), [N, width of the model] row-major. Changes no state; a slow path for
   * input attribution.
   */
  inputGradient?<A>(batch: Batch, loss: Loss<A>, aux: A): Promise<Float32Array>;
  step(rule: StepRule): Promise<StepStats>;
  freeze(): Promise<Frozen>;
  /** A copy that learns by itself. @param id its name in the run, by which its samples are told apart. Default: this model's. */
  fork(optimiser: "copy" | "fresh", id?: ModelId): Promise<Model>;
  /** Named gradient buffers: their inner products, and a combination that becomes the buffer `step` uses. */
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
 * A loss as a plain function from a model's outputs to their cotangents. It has no access to weights.
 * `evaluate` may be called on parts of the batch that keep each `together` unit whole; losses and cotangents of the parts add up.
 */
export interface Loss<Aux = unknown> {
  readonly name: string;
  /** What micro-batching must not split. */
  readonly together: "row" | "group" | "batch";
  wants(aux: Aux, batch: Batch): Wanted;
  /** Pure. Stats are sums, so that parts can be added; see {@link averageStats} in stats.ts for their names. */
  evaluate(outputs: Outputs, batch: Batch, aux: Aux): Evaluation;
}

/**
 * What a loss computes from a batch or a part of it: its value, its derivatives with respect to the model's outputs, and
 * measurements. Those of the parts add up to those of the batch.
 */
export interface Evaluation {
  readonly loss: number;
  readonly cotangents: Cotangents;
  readonly stats: Stats;
}
