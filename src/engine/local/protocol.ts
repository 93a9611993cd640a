/** What the engine thread can be asked. Every call is one message each way, which copies its arrays. */
import type { Sample, SampleRequest, StepRule, StepStats } from "../../core/model.ts";
import type { DecoderConfig } from "./config.ts";
import type { Weights } from "./parameters.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

/** Names a model inside the engine thread. */
export type Handle = number;

/** One padded micro-batch: B rows of T tokens, A targets. */
export interface PaddedRows {
  readonly B: number;
  readonly T: number;
  readonly A: number;
  readonly tokens: Int32Array;
  /** Place among the B · T at which each target is predicted, [A]. */
  readonly context: Int32Array;
  readonly targets: Int32Array;
}

/** A model's weights with everything that a resumed run needs. */
export interface ModelContents {
  readonly weights: Weights;
  readonly first?: Weights;
  readonly second?: Weights;
  readonly steps: number;
  readonly version: number;
}

export interface Calls {
  create(config: DecoderConfig, tokenizer: TokenizerFiles, contents: ModelContents): Handle;
  sample(handle: Handle, requests: readonly SampleRequest[]): Sample[];
  /** Log-probabilities and entropies of the targets, [A] each. With `keep`, a `backward` call must follow. */
  forward(handle: Handle, rows: PaddedRows, keep: boolean): { logp: Float32Array; entropy: Float32Array };
  /** Adds the gradient of the rows of the last kept forward. */
  backward(handle: Handle, into: string, cotangents: { logp: Float32Array; entropy?: Float32Array }): void;
  step(
    handle: Handle,
    rule: Omit<StepRule, "pull">,
    pull?: { toward: Handle; strength: number },
  ): { stats: StepStats; version: number };
  copy(handle: Handle, optimiser: "copy" | "fresh"): Handle;
  blend(handle: Handle, toward: Handle, rate: number): number;
  dot(handle: Handle, a: string, b: string): number;
  combine(handle: Handle, sum: Readonly<Record<string, number>>): void;
  contents(handle: Handle): ModelContents;
  replace(handle: Handle, contents: ModelContents): void;
  drop(handle: Handle): void;
}

export type CallName = keyof Calls;
export type Request = { readonly id: number; readonly call: CallName; readonly args: readonly unknown[] };
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: {
        readonly code?: string;
        readonly parts?: unknown;
        readonly message: string;
        readonly stack?: string;
      };
    };
