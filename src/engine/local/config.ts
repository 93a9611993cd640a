/** The shape of a Llama-style decoder, and its form in a Hugging Face config.json. */
import { z } from "zod";
import { WhetstoneError } from "../../core/errors.ts";

export type Family = "llama" | "qwen2" | "qwen3" | "smollm3";

/** As in a Hugging Face config's `rope_scaling`. */
export type RopeScaling =
  | { readonly type: "linear"; readonly factor: number }
  | {
      readonly type: "llama3";
      readonly factor: number;
      readonly lowFrequency: number;
      readonly highFrequency: number;
      /** Context length that the model was first trained with. */
      readonly originalTokens: number;
    }
  | {
      readonly type: "yarn";
      readonly factor: number;
      readonly originalTokens: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      /** Factor on the cosines and sines. */
      readonly attention: number;
      /** Whether the two ends of the ramp are rounded to whole dimensions. */
      readonly truncate: boolean;
    };

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
  /** Which published architecture its folder is written as. */
  readonly family: Family;
  /** Projections with a bias. */
  readonly bias: { readonly qkv: boolean; readonly output: boolean; readonly feedForward: boolean };
  /** Whether queries and keys pass a norm of their own per head before they are turned (Qwen3). */
  readonly qkNorm: boolean;
  readonly ropeTheta: number;
  /** How the rotary angles are stretched for long contexts. */
  readonly ropeScaling?: RopeScaling;
  /** Layers whose queries and keys are not turned (SmolLM3); ascending. */
  readonly unturned: readonly number[];
  readonly epsilon: number;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  /** Whether the output layer is the embedding table. */
  readonly tied: boolean;
}

/** What the plainest family is. */
export const plain = {
  family: "llama",
  bias: { qkv: false, output: false, feedForward: false },
  qkNorm: false,
  unturned: [],
} as const satisfies Partial<DecoderConfig>;

/** Sizes that a user picks for a model made from scratch. */
export interface DecoderSize {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly feedForward: number;
}

const schema = z
  .object({
    vocab_size: z.int().positive(),
    hidden_size: z.int().positive(),
    num_hidden_layers: z.int().positive(),
    num_attention_heads: z.int().positive(),
    num_key_value_heads: z.int().positive(),
    head_dim: z.int().positive(),
    intermediate_size: z.int().positive(),
    rope_theta: z.number().positive(),
    rms_norm_eps: z.number().positive(),
    max_position_embeddings: z.int().positive(),
    tie_word_embeddings: z.boolean(),
  })
  .refine((c) => c.num_attention_heads % c.num_key_value_heads === 0, "heads that kv heads do not divide")
  .refine((c) => c.head_dim % 2 === 0, "an odd head_dim");

export function toHuggingFace(c: DecoderConfig): Record<string, unknown> {
  return {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    vocab_size: c.vocabulary,
    hidden_size: c.width,
    num_hidden_layers: c.layers,
    num_attention_heads: c.heads,
    num_key_value_heads: c.kvHeads,
    head_dim: c.headWidth,
    intermediate_size: c.feedForward,
    rope_theta: c.ropeTheta,
    rms_norm_eps: c.epsilon,
    max_position_embeddings: c.contextTokens,
    tie_word_embeddings: c.tied,
    hidden_act: "silu",
    attention_bias: false,
    mlp_bias: false,
    torch_dtype: "float32",
  };
}

/** @throws WhetstoneError `checkpoint.damaged` when a field is missing or of the wrong kind. */
export function fromHuggingFace(json: unknown, where: string): DecoderConfig {
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    throw new WhetstoneError("checkpoint.damaged", {
      where,
      got: z.prettifyError(parsed.error).replaceAll("\n", " "),
      expected: "a config.json of a Llama-style decoder",
      mend: "Use an intact checkpoint folder.",
    });
  }
  const c = parsed.data;
  return {
    vocabulary: c.vocab_size,
    width: c.hidden_size,
    layers: c.num_hidden_layers,
    heads: c.num_attention_heads,
    kvHeads: c.num_key_value_heads,
    headWidth: c.head_dim,
    feedForward: c.intermediate_size,
    ropeTheta: c.rope_theta,
    epsilon: c.rms_norm_eps,
    contextTokens: c.max_position_embeddings,
    tied: c.tie_word_embeddings,
    ...plain,
  };
}
