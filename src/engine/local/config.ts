/** The shape of a Llama-style decoder. */

export type Family = "llama" | "qwen2" | "qwen3" | "smollm3";

/** As in a Hugging Face config's `rope_scaling`. */
export type RopeScaling =
  | { readonly type: "linear"; readonly factor: number }
  | {
      readonly type: "llama3";
      readonly factor: number;
      readonly lowFrequency: number;
      readonly highFrequency: number;
      /** Context length in the original training. */
      readonly originalTokens: number;
    }
  | {
      readonly type: "yarn";
      readonly factor: number;
      readonly originalTokens: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      /** Scale of the cosines and sines. */
      readonly attention: number;
      /** Whether the two ends of the ramp are rounded to whole dimensions. */
      readonly truncate: boolean;
    };

/**
 * The whole shape of a decoder-only transformer: sizes, projections with a bias, rotary embedding, and whether embedding
 * and output share weights.
 */
export interface DecoderConfig {
  readonly vocabulary: number;
  /** Width of the residual stream, D. */
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Key/value heads; divides `heads`. */
  readonly kvHeads: number;
  /** Width of one head; even. */
  readonly headWidth: number;
  /** Inner width of the SwiGLU block. */
  readonly feedForward: number;
  /** The published architecture that its folder is written as. */
  readonly family: Family;
  /** Projections with a bias. */
  readonly bias: { readonly qkv: boolean; readonly output: boolean; readonly feedForward: boolean };
  /** Whether queries and keys are normalised per head before the rotary embedding (Qwen3). */
  readonly qkNorm: boolean;
  readonly ropeTheta: number;
  /** How the rotary angles are stretched for long contexts. */
  readonly ropeScaling?: RopeScaling;
  /** Layers without rotary embedding (SmolLM3: NoPE); ascending. */
  readonly unturned: readonly number[];
  readonly epsilon: number;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  /** Whether the output layer is the embedding table. */
  readonly tied: boolean;
}

/** Fields of the plainest family. */
export const plain = {
  family: "llama",
  bias: { qkv: false, output: false, feedForward: false },
  qkNorm: false,
  unturned: [],
} as const satisfies Partial<DecoderConfig>;

/** Sizes that a user chooses for a model made from scratch. */
export interface DecoderSize {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly feedForward: number;
}
