/** The shape of a GGUF file's model, from its metadata and its tensors. */
import { z } from "zod";
import type { DecoderConfig, RopeScaling } from "../config.ts";
import { rotaryFrequencies } from "../rotaryTables.ts";
import { checkedMetadata, damagedGguf, type GgufFile, unsupportedGguf } from "./file.ts";
import { ropeFactors } from "./names.ts";

const architectures = ["llama", "qwen2", "qwen3", "smollm3"] as const;
type Architecture = (typeof architectures)[number];

const count = z.int().positive();
const shape = z.looseObject({
  block_count: count.max(1000),
  embedding_length: count.max(2 ** 17),
  feed_forward_length: count.max(2 ** 20),
  context_length: count.max(2 ** 31),
  "attention.head_count": count.max(4096),
  "attention.head_count_kv": count.max(4096).optional(),
  "attention.key_length": count.max(4096).optional(),
  "attention.value_length": count.max(4096).optional(),
  "attention.layer_norm_rms_epsilon": z.number().positive(),
  "attention.sliding_window": z.number().optional(),
  "rope.dimension_count": count.optional(),
  "rope.freq_base": z.number().positive().optional(),
  "rope.scaling.type": z.string().optional(),
  "rope.scaling.factor": z.number().positive().optional(),
  "rope.scaling.original_context_length": count.optional(),
  "rope.scaling.attn_factor": z.number().positive().optional(),
  "rope.scaling.yarn_beta_fast": z.number().positive().optional(),
  "rope.scaling.yarn_beta_slow": z.number().positive().optional(),
  expert_count: z.number().optional(),
});
type Shape = z.infer<typeof shape>;

function architectureOf({ metadata, path }: GgufFile): Architecture {
  const stated = metadata["general.architecture"];
  const found = architectures.find((name) => name === stated);
  if (found) return found;
  if (typeof stated !== "string") throw damagedGguf(path, "no general.architecture");
  throw unsupportedGguf(
    path,
    `a model of architecture "${stated}"`,
    `one of ${architectures.join(", ")}`,
    "Choose a Llama, Mistral, Qwen2, Qwen2.5, Qwen3, SmolLM, SmolLM2 or SmolLM3 model.",
  );
}

/** A number that was written as float32, as its writer meant it: 1e-5 in place of 0.00000999999974. */
const meant = (x: number): number => Number(x.toPrecision(7));

/** Whether two numbers are equal as float32 numbers are that were computed in another order. */
const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-4 * Math.abs(b);

/** Llama 3.1's scaling, of which a file holds only what follows: the divisor of each frequency. */
async function llama3Scaling(file: GgufFile, config: DecoderConfig): Promise<RopeScaling> {
  const divisors = await file.read(ropeFactors);
  const plain = rotaryFrequencies(config);
  const scaling: RopeScaling = {
    type: "llama3",
    factor: divisors.reduce((a, b) => Math.max(a, b)),
    // those of every model that has them
    lowFrequency: 1,
    highFrequency: 4,
    originalTokens: 8192,
  };
  const turned = rotaryFrequencies({ ...config, ropeScaling: scaling });
  if (divisors.length === plain.length && plain.every((f, i) => near(f / divisors[i]!, turned[i]!)))
    return scaling;
  throw unsupportedGguf(
    file.path,
    `rotary frequencies of its own in ${ropeFactors}`,
    "those of Llama 3.1 and later",
    "Use the safetensors checkpoint, whose config.json states the scaling.",
  );
}

function statedScaling(s: Shape, path: string): RopeScaling | undefined {
  const type = s["rope.scaling.type"] ?? "none";
  const factor = s["rope.scaling.factor"];
  if (type === "none") return undefined;
  if (factor === undefined) throw damagedGguf(path, `rope scaling "${type}" without its factor`);
  if (type === "linear") return { type, factor: meant(factor) };
  if (type === "yarn") {
    return {
      type,
      factor: meant(factor),
      originalTokens: s["rope.scaling.original_context_length"] ?? s.context_length,
      betaFast: s["rope.scaling.yarn_beta_fast"] ?? 32,
      betaSlow: s["rope.scaling.yarn_beta_slow"] ?? 1,
      attention: (s["rope.scaling.attn_factor"] ?? 1) * (factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1),
      truncate: true,
    };
  }
  throw unsupportedGguf(path, `rope scaling "${type}"`, "none, linear or yarn", "Choose another model.");
}

function requireSupported(s: Shape, heads: { readonly width: number }, path: string): void {
  const refuse = (got: string, expected: string): never => {
    throw unsupportedGguf(path, got, expected, "Choose another model.");
  };
  if ((s.expert_count ?? 0) > 0)
    refuse(`a mixture of ${s.expert_count} experts`, "one feed-forward block per layer");
  if ((s["attention.sliding_window"] ?? 0) > 0)
    refuse("layers with a sliding window", "attention over the whole sequence");
  if ((s["attention.value_length"] ?? heads.width) !== heads.width)
    refuse(
      `heads with values of width ${s["attention.value_length"]}`,
      `width ${heads.width}, as of the keys`,
    );
  if ((s["rope.dimension_count"] ?? heads.width) !== heads.width)
    refuse(
      `rotary embeddings over ${s["rope.dimension_count"]} of ${heads.width} dimensions`,
      "over whole heads",
    );
}

/**
 * The decoder of a file.
 * @throws WhetstoneError `model.unsupported` if this engine cannot run it; `checkpoint.damaged` when a key is missing or
 * of the wrong type.
 */
export async function ggufConfig(file: GgufFile): Promise<DecoderConfig> {
  const { metadata, tensors, path } = file;
  const family = architectureOf(file);
  const own = Object.fromEntries(
    Object.entries(metadata).flatMap(([key, value]) =>
      key.startsWith(`${family}.`) ? [[key.slice(family.length + 1), value]] : [],
    ),
  );
  const s = checkedMetadata(shape, own, `${family}.`, path);
  const [vocabulary] = tensors.get("token_embd.weight")?.shape ?? [];
  if (vocabulary === undefined) throw damagedGguf(path, "no tensor token_embd.weight");
  const heads = s["attention.head_count"];
  const headWidth = s["attention.key_length"] ?? s.embedding_length / heads;
  const kvHeads = s["attention.head_count_kv"] ?? heads;
  if (!Number.isInteger(headWidth) || headWidth % 2 !== 0)
    throw damagedGguf(path, `heads of width ${headWidth}, which is not even`);
  if (heads % kvHeads !== 0)
    throw damagedGguf(path, `${heads} heads, which ${kvHeads} kv heads do not divide`);
  requireSupported(s, { width: headWidth }, path);
  const config: DecoderConfig = {
    vocabulary,
    width: s.embedding_length,
    layers: s.block_count,
    heads,
    kvHeads,
    headWidth,
    feedForward: s.feed_forward_length,
    family,
    bias: {
      qkv: tensors.has("blk.0.attn_q.bias"),
      output: tensors.has("blk.0.attn_output.bias"),
      feedForward: tensors.has("blk.0.ffn_gate.bias"),
    },
    qkNorm: family === "qwen3",
    ropeTheta: meant(s["rope.freq_base"] ?? 10_000),
    // the file does not say it: llama.cpp too knows it of the architecture
    unturned:
      family === "smollm3"
        ? Array.from({ length: s.block_count }, (_, i) => i).filter((i) => i % 4 === 3)
        : [],
    epsilon: meant(s["attention.layer_norm_rms_epsilon"]),
    contextTokens: s.context_length,
    tied: !tensors.has("output.weight"),
  };
  const ropeScaling = tensors.has(ropeFactors) ? await llama3Scaling(file, config) : statedScaling(s, path);
  return { ...config, ...(ropeScaling && { ropeScaling }) };
}
