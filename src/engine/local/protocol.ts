/** The calls that the engine thread answers. Every call is one message each way, which copies its arrays. */
import type { Codec, ModelsBeside, Sample, SampleRequest, StepRule, StepStats } from "../../core/model.ts";
import type { TypedArray } from "../../tensor/execute.ts";
import type { OutputRequest } from "./decoder.ts";
import type { Architecture, Weights } from "./parameters.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

/** Identifies a model inside the engine thread. */
export type Handle = number;

/** One micro-batch: rows packed into B sequences of T places, with A targets. Padding at the end of each. */
export interface PackedRows {
  readonly B: number;
  readonly T: number;
  readonly A: number;
  /** [B · T], as the next two. */
  readonly tokens: Int32Array;
  /** Position of each token in its own row. */
  readonly position: Int32Array;
  /** Last position of its sequence that attends to each position. */
  readonly end: Int32Array;
  /** Index among the B · T at which each target is predicted, [A]. */
  readonly context: Int32Array;
  /** Target that is predicted at each position, or A, [B · T]. */
  readonly back: Int32Array;
  readonly targets: Int32Array;
  /** Ids whose log-probabilities are requested, [A, width] row-major. */
  readonly atIds?: Int32Array;
}

/** A model's weights with the state that a resumed run needs. */
export interface ModelContents {
  readonly weights: Weights;
  readonly first?: Weights;
  readonly second?: Weights;
  readonly steps: number;
  readonly version: number;
}

/** The padding id and the end-of-reply id. */
export type SpecialTokens = Pick<Codec, "padId" | "endId">;

/** A request as the engine thread gets it: the model to mix in by its handle. */
export type LocalRequest = Omit<SampleRequest, "mix"> & {
  readonly mix?: { readonly of: Handle; readonly share: number };
};

/** What memory is planned for. */
export interface MemoryUse {
  /** Positions of a micro-batch. */
  readonly places: number;
  /** Longest row, and rows that sample at once. */
  readonly tokens: number;
  readonly rows: number;
  /** Absent: none. */
  readonly beside?: ModelsBeside;
}

/** Bytes that training takes of a device at most. */
export interface MemoryPlan {
  readonly weights: number;
  readonly gradients: number;
  /** Of AdamW. */
  readonly moments: number;
  readonly activations: number;
  /** Of the activations, what forward passes keep for backward passes. */
  readonly kept: number;
  /** Keys and values of the rows that are sampled. */
  readonly caches: number;
  /** Weights, gradients and moments of other models. */
  readonly beside: number;
  /** Their sum. */
  readonly whole: number;
  /** Of the largest single array. */
  readonly largest: number;
}

export interface Calls {
  create(architecture: Architecture, marks: SpecialTokens, contents: ModelContents): Handle;
  /** The text of each token of a model and its copies. Sent before the first request that has stop strings. */
  words(handle: Handle, tokenizer: TokenizerFiles): void;
  /** @param watch the number under which it can be cancelled. @param told whether its tokens are told under that number. */
  sample(handle: Handle, requests: readonly LocalRequest[], watch?: number, told?: boolean): Sample[];
  /** Ends a sampling call that is watched. */
  cancel(handle: Handle, watch: number): void;
  /** The outputs of `scoringGraph` by name. With `keep`, a `backward` or `inputGradient` may follow. */
  forward(handle: Handle, rows: PackedRows, wanted: OutputRequest, keep: boolean): Record<string, TypedArray>;
  /** Adds the gradient of the rows of the last kept forward. @param cotangents by output, each of its full size. */
  backward(handle: Handle, into: string, cotangents: Readonly<Record<string, Float32Array>>): void;
  /** The gradient with respect to the input embeddings of the last kept forward, [B · T, D]. */
  inputGradient(handle: Handle, cotangents: Readonly<Record<string, Float32Array>>): Float32Array;
  step(
    handle: Handle,
    rule: Omit<StepRule, "pull">,
    pull?: { toward: Handle; strength: number },
  ): { stats: StepStats; version: number };
  copy(handle: Handle, optimiser: "copy" | "fresh"): Handle;
  blend(handle: Handle, toward: Handle, rate: number): number;
  dot(handle: Handle, a: string, b: string): number;
  combine(handle: Handle, sum: Readonly<Record<string, number>>): void;
  /** @param which weights: all by default. */
  contents(handle: Handle, which?: "all" | "trained"): ModelContents;
  replace(handle: Handle, contents: ModelContents): void;
  /** What training takes of the device's memory; null where that is not planned. */
  memory(handle: Handle, use: MemoryUse): MemoryPlan | null;
  drop(handle: Handle): void;
}

export type CallName = keyof Calls;
export type Request = { readonly id: number; readonly call: CallName; readonly args: readonly unknown[] };
export type Reply =
  | { readonly id: number; readonly value: unknown }
  /** One token of a request of the call that is watched so. */
  | { readonly watch: number; readonly request: number; readonly token: number }
  | {
      readonly id: number;
      readonly error: {
        readonly code?: string;
        readonly parts?: unknown;
        readonly message: string;
        readonly stack?: string;
      };
    };
