/** The shape of a decoder in the form of a Hugging Face config.json. */
import { z } from "zod";
import { WhetstoneError } from "../../core/errors.ts";
import type { DecoderConfig, Family, RopeScaling } from "./config.ts";

const known = {
  llama: "Llama",
  qwen2: "Qwen2",
  qwen3: "Qwen3",
  smollm3: "SmolLM3",
} as const satisfies Record<Family, string>;
const families = Object.keys(known);

/** Defaults of each family for fields that its config.json leaves out, as in transformers. */
const absent = {
  llama: { kvHeads: undefined, theta: 10_000, contextTokens: 2048, tied: false },
  qwen2: { kvHeads: 32, theta: 10_000, contextTokens: 32_768, tied: false },
  qwen3: { kvHeads: 32, theta: 10_000, contextTokens: 32_768, tied: false },
  smollm3: { kvHeads: 4, theta: 2_000_000, contextTokens: 32_768, tied: true },
} as const satisfies Record<Family, object>;

const count = z.int().positive();
/** Larger than in any published model. The limits are checked because memory is allocated before weights are read. */
const most = {
  vocabulary: 2 ** 24,
  width: 2 ** 17,
  layers: 1000,
  heads: 4096,
  inner: 2 ** 20,
  tokens: 2 ** 31,
};
const upTo = (largest: number) => count.max(largest);
const rotary = z.looseObject({
  rope_type: z.string().nullish(),
  /** The older name of `rope_type`. */
  type: z.string().nullish(),
  rope_theta: z.number().positive().nullish(),
  partial_rotary_factor: z.number().nullish(),
  factor: z.number().positive().nullish(),
  low_freq_factor: z.number().positive().nullish(),
  high_freq_factor: z.number().positive().nullish(),
  original_max_position_embeddings: count.nullish(),
  attention_factor: z.number().positive().nullish(),
  beta_fast: z.number().nullish(),
  beta_slow: z.number().nullish(),
  mscale: z.number().nullish(),
  mscale_all_dim: z.number().nullish(),
  truncate: z.boolean().nullish(),
});

const schema = z.looseObject({
  architectures: z.array(z.string()).nullish(),
  vocab_size: upTo(most.vocabulary),
  hidden_size: upTo(most.width),
  num_hidden_layers: upTo(most.layers),
  num_attention_heads: upTo(most.heads),
  num_key_value_heads: upTo(most.heads).nullish(),
  head_dim: upTo(most.heads).nullish(),
  intermediate_size: upTo(most.inner),
  rope_theta: z.number().positive().nullish(),
  rope_scaling: rotary.nullish(),
  /** Both of the fields above in one, since transformers 5. */
  rope_parameters: rotary.nullish(),
  partial_rotary_factor: z.number().nullish(),
  original_max_position_embeddings: count.nullish(),
  no_rope_layers: z.array(z.union([z.literal(0), z.literal(1)])).nullish(),
  no_rope_layer_interval: count.nullish(),
  rms_norm_eps: z.number().positive().nullish(),
  max_position_embeddings: upTo(most.tokens).nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  hidden_act: z.string().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  use_sliding_window: z.boolean().nullish(),
  sliding_window: z.number().nullish(),
  max_window_layers: z.int().nonnegative().nullish(),
  layer_types: z.array(z.string()).nullish(),
  quantization_config: z.unknown().optional(),
});
type HuggingFaceConfig = z.infer<typeof schema>;

function unsupported(where: string, got: string, expected: string, fix: string): WhetstoneError {
  return new WhetstoneError("model.unsupported", { where, got, expected, fix });
}

function damaged(where: string, got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where,
    got,
    expected: "a config.json of a Llama-style decoder",
    fix: "Use an intact checkpoint folder.",
  });
}

const namesFamily = z.object({ model_type: z.enum(["llama", "qwen2", "qwen3", "smollm3"]) });

function familyOf(json: unknown, where: string): Family {
  const parsed = namesFamily.safeParse(json);
  if (parsed.success) return parsed.data.model_type;
  const loose = z.object({ model_type: z.string() }).safeParse(json);
  if (!loose.success) throw damaged(where, "no model_type");
  throw unsupported(
    where,
    `a model of type "${loose.data.model_type}"`,
    `one of ${families.join(", ")}`,
    "Choose a Llama, Qwen2, Qwen2.5, Qwen3, SmolLM, SmolLM2 or SmolLM3 checkpoint.",
  );
}

/** YaRN's scale of cosines and sines. */
const yarnScale = (factor: number, by = 1): number => (factor <= 1 ? 1 : 0.1 * by * Math.log(factor) + 1);

/** Settings of the rotary embedding. @param contextTokens the config's own longest sequence. */
function ropeOf(
  c: HuggingFaceConfig,
  family: Family,
  contextTokens: number,
  where: string,
): Pick<DecoderConfig, "ropeTheta" | "ropeScaling"> {
  const rope = c.rope_scaling ?? c.rope_parameters ?? {};
  const ropeTheta = rope.rope_theta ?? c.rope_theta ?? c.rope_parameters?.rope_theta ?? absent[family].theta;
  const type = rope.rope_type ?? rope.type ?? "default";
  const required = (name: "factor" | "low_freq_factor" | "high_freq_factor"): number => {
    const value = rope[name];
    if (value !== undefined && value !== null) return value;
    throw damaged(where, `rope scaling "${type}" without ${name}`);
  };
  if ((rope.partial_rotary_factor ?? c.partial_rotary_factor ?? 1) !== 1 || "full_attention" in rope) {
    throw unsupported(
      where,
      "rotary embeddings over part of a head, or different ones per layer",
      "the same rotary embedding in every layer, over whole heads",
      "Choose another checkpoint.",
    );
  }
  const originalTokens =
    c.original_max_position_embeddings ?? rope.original_max_position_embeddings ?? contextTokens;
  switch (type) {
    case "default":
      return { ropeTheta };
    case "linear":
      return { ropeTheta, ropeScaling: { type, factor: required("factor") } };
    case "llama3":
      return {
        ropeTheta,
        ropeScaling: {
          type,
          factor: required("factor"),
          lowFrequency: required("low_freq_factor"),
          highFrequency: required("high_freq_factor"),
          originalTokens,
        },
      };
    case "yarn": {
      const factor = rope.factor ?? contextTokens / originalTokens;
      const { mscale, mscale_all_dim: all } = rope;
      const attention =
        rope.attention_factor ??
        (mscale && all ? yarnScale(factor, mscale) / yarnScale(factor, all) : yarnScale(factor));
      return {
        ropeTheta,
        ropeScaling: {
          type,
          factor,
          originalTokens,
          // 0 means the default, as with Python's `or`
          betaFast: rope.beta_fast || 32,
          betaSlow: rope.beta_slow || 1,
          attention,
          truncate: rope.truncate ?? true,
        },
      };
    }
    default:
      throw unsupported(
        where,
        `rope scaling "${type}"`,
        "default, linear, llama3 or yarn",
        "Choose a checkpoint with one of these rope scalings, or with none.",
      );
  }
}

/** Requires full causal attention in every layer, the only kind that the engine supports. */
function requireFullAttention(
  c: HuggingFaceConfig,
  family: Family,
  unturned: readonly number[],
  where: string,
): void {
  const window = c.use_sliding_window === true && c.sliding_window !== undefined && c.sliding_window !== null;
  const sliding = c.layer_types
    ? c.layer_types.some((type) => type !== "full_attention")
    : window &&
      (family === "smollm3" ? unturned.length > 0 : (c.max_window_layers ?? 28) < c.num_hidden_layers);
  if (!sliding) return;
  throw unsupported(
    where,
    "layers with a sliding window",
    "attention over the whole sequence in every layer",
    "Choose a checkpoint without sliding windows.",
  );
}

function requireKnownParts(c: HuggingFaceConfig, family: Family, where: string): void {
  const architecture = `${known[family]}ForCausalLM`;
  if (c.architectures && c.architectures.length > 0 && !c.architectures.includes(architecture)) {
    throw unsupported(
      where,
      `the architecture ${c.architectures.join(", ")}`,
      architecture,
      "Choose a checkpoint of a language model.",
    );
  }
  if ((c.hidden_act ?? "silu") !== "silu") {
    throw unsupported(where, `the activation "${c.hidden_act}"`, "silu", "Choose another checkpoint.");
  }
  if (c.quantization_config !== undefined && c.quantization_config !== null) {
    throw unsupported(
      where,
      "quantised weights",
      "weights in F32, BF16 or F16",
      "Choose the checkpoint that was not quantised.",
    );
  }
}

function unturnedOf(c: HuggingFaceConfig, family: Family, where: string): number[] {
  if (family !== "smollm3") return [];
  const layers = Array.from({ length: c.num_hidden_layers }, (_, i) => i);
  const turned = c.no_rope_layers;
  if (!turned) return layers.filter((i) => (i + 1) % (c.no_rope_layer_interval ?? 4) === 0);
  if (turned.length !== layers.length) {
    throw damaged(where, `no_rope_layers with ${turned.length} entries for ${layers.length} layers`);
  }
  return layers.filter((i) => turned[i] === 0);
}

/**
 * The decoder of a Hugging Face config.json. Missing fields take the defaults of transformers.
 * @throws WhetstoneError `model.unsupported` if this engine cannot run it; `checkpoint.damaged` when a field is missing
 * or of the wrong type.
 */
export function fromHuggingFace(json: unknown, where: string): DecoderConfig {
  const family = familyOf(json, where);
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw damaged(where, z.prettifyError(parsed.error).replaceAll("\n", " "));
  const c = parsed.data;
  requireKnownParts(c, family, where);
  const unturned = unturnedOf(c, family, where);
  requireFullAttention(c, family, unturned, where);
  const heads = c.num_attention_heads;
  const kvHeads =
    (c.num_key_value_heads === undefined ? absent[family].kvHeads : undefined) ??
    c.num_key_value_heads ??
    heads;
  const headWidth = c.head_dim ?? (family === "qwen3" ? 128 : c.hidden_size / heads);
  if (heads % kvHeads !== 0) throw damaged(where, `${heads} heads, which ${kvHeads} kv heads do not divide`);
  if (headWidth % 2 !== 0) throw damaged(where, `heads of width ${headWidth}, which is not even`);
  const contextTokens = c.max_position_embeddings ?? absent[family].contextTokens;
  const attention = c.attention_bias ?? false;
  return {
    vocabulary: c.vocab_size,
    width: c.hidden_size,
    layers: c.num_hidden_layers,
    heads,
    kvHeads,
    headWidth,
    feedForward: c.intermediate_size,
    family,
    bias: {
      qkv: family === "qwen2" || attention,
      output: family !== "qwen2" && attention,
      feedForward: (family === "llama" || family === "smollm3") && (c.mlp_bias ?? false),
    },
    qkNorm: family === "qwen3",
    ...ropeOf(c, family, contextTokens, where),
    unturned,
    epsilon: c.rms_norm_eps ?? 1e-6,
    contextTokens,
    tied: c.tie_word_embeddings ?? absent[family].tied,
  };
}

function scalingOf(scaling: RopeScaling): Record<string, unknown> {
  switch (scaling.type) {
    case "linear":
      return { rope_type: "linear", factor: scaling.factor };
    case "llama3":
      return {
        rope_type: "llama3",
        factor: scaling.factor,
        low_freq_factor: scaling.lowFrequency,
        high_freq_factor: scaling.highFrequency,
        original_max_position_embeddings: scaling.originalTokens,
      };
    case "yarn":
      return {
        rope_type: "yarn",
        factor: scaling.factor,
        original_max_position_embeddings: scaling.originalTokens,
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
        attention_factor: scaling.attention,
        truncate: scaling.truncate,
      };
  }
}

/** The config.json of a decoder, in the form that transformers 4 and 5 both read. */
export function toHuggingFace(c: DecoderConfig): Record<string, unknown> {
  const turned = Array.from({ length: c.layers }, (_, i) => (c.unturned.includes(i) ? 0 : 1));
  return {
    architectures: [`${known[c.family]}ForCausalLM`],
    model_type: c.family,
    vocab_size: c.vocabulary,
    hidden_size: c.width,
    num_hidden_layers: c.layers,
    num_attention_heads: c.heads,
    num_key_value_heads: c.kvHeads,
    head_dim: c.headWidth,
    intermediate_size: c.feedForward,
    rope_theta: c.ropeTheta,
    ...(c.ropeScaling ? { rope_scaling: scalingOf(c.ropeScaling) } : {}),
    ...(c.family === "smollm3" ? { no_rope_layers: turned } : {}),
    rms_norm_eps: c.epsilon,
    max_position_embeddings: c.contextTokens,
    tie_word_embeddings: c.tied,
    hidden_act: "silu",
    ...(c.family === "qwen2" ? {} : { attention_bias: c.bias.qkv }),
    ...(c.family === "llama" || c.family === "smollm3" ? { mlp_bias: c.bias.feedForward } : {}),
    torch_dtype: "float32",
  };
}
