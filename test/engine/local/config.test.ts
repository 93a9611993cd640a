import assert from "node:assert/strict";
import { test } from "node:test";
import { type DecoderConfig, plain } from "../../../src/engine/local/config.ts";
import { fromHuggingFace, toHuggingFace } from "../../../src/engine/local/huggingFaceConfig.ts";
import { failsWith } from "./support.ts";

const read = (json: Record<string, unknown>): DecoderConfig => fromHuggingFace(json, "config.json");

/** What no family has a default for. */
const sizes = {
  vocab_size: 100,
  hidden_size: 64,
  num_hidden_layers: 4,
  num_attention_heads: 32,
  intermediate_size: 96,
};
const shape = { vocabulary: 100, width: 64, layers: 4, heads: 32, feedForward: 96 };

test("fromHuggingFace takes what transformers takes for fields that are absent", () => {
  // transformers 5: class defaults of LlamaConfig, Qwen2Config, Qwen3Config, SmolLM3Config
  const common = { ...plain, ...shape, epsilon: 1e-6, ropeTheta: 10_000, tied: false };
  const expected: Readonly<Record<string, DecoderConfig>> = {
    llama: { ...common, kvHeads: 32, headWidth: 2, contextTokens: 2048 },
    qwen2: {
      ...common,
      family: "qwen2",
      kvHeads: 32,
      headWidth: 2,
      contextTokens: 32_768,
      bias: { qkv: true, output: false, feedForward: false },
    },
    qwen3: {
      ...common,
      family: "qwen3",
      kvHeads: 32,
      headWidth: 128,
      contextTokens: 32_768,
      qkNorm: true,
    },
    smollm3: {
      ...common,
      family: "smollm3",
      kvHeads: 4,
      headWidth: 2,
      contextTokens: 32_768,
      ropeTheta: 2_000_000,
      tied: true,
      unturned: [3],
    },
  };
  for (const [model_type, config] of Object.entries(expected)) {
    assert.deepEqual(read({ model_type, ...sizes }), config, model_type);
  }
  // one that is there but null counts as every head, or as what follows from the width
  const nulls = { num_key_value_heads: null, head_dim: null, rope_scaling: null, layer_types: null };
  assert.equal(read({ model_type: "smollm3", ...sizes, ...nulls }).kvHeads, 32);
});

test("fromHuggingFace reads biases where a family can have them", () => {
  const bias = (model_type: string) =>
    read({ model_type, ...sizes, attention_bias: true, mlp_bias: true }).bias;
  assert.deepEqual(bias("llama"), { qkv: true, output: true, feedForward: true });
  assert.deepEqual(bias("smollm3"), { qkv: true, output: true, feedForward: true });
  assert.deepEqual(bias("qwen3"), { qkv: true, output: true, feedForward: false });
  assert.deepEqual(bias("qwen2"), { qkv: true, output: false, feedForward: false });
});

test("fromHuggingFace reads rotary angles in the old form and in that of transformers 5", () => {
  const llama3 = {
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  };
  const scaling = { type: "llama3", factor: 8, lowFrequency: 1, highFrequency: 4, originalTokens: 8192 };
  const base = { model_type: "llama", ...sizes };
  const forms = [
    { rope_theta: 5e5, rope_scaling: { rope_type: "llama3", ...llama3 } },
    { rope_parameters: { rope_theta: 5e5, rope_type: "llama3", ...llama3 } },
    { rope_theta: 5e5, rope_scaling: { type: "llama3", ...llama3 } },
  ];
  for (const form of forms) {
    const { ropeTheta, ropeScaling } = read({ ...base, ...form });
    assert.deepEqual({ ropeTheta, ropeScaling }, { ropeTheta: 5e5, ropeScaling: scaling });
  }
  const theta = read({ ...base, rope_parameters: { rope_theta: 3e4, rope_type: "default" } });
  assert.deepEqual([theta.ropeTheta, theta.ropeScaling], [3e4, undefined]);
  assert.deepEqual(read({ ...base, rope_scaling: { type: "linear", factor: 2 } }).ropeScaling, {
    type: "linear",
    factor: 2,
  });
});

test("fromHuggingFace reads YaRN with its defaults", () => {
  const base = { model_type: "qwen2", ...sizes, max_position_embeddings: 400 };
  const yarn = (more: Record<string, unknown>) =>
    read({ ...base, rope_scaling: { rope_type: "yarn", ...more } }).ropeScaling;
  const whole = { type: "yarn", factor: 4, betaFast: 32, betaSlow: 1, truncate: true };
  const attention = 0.1 * Math.log(4) + 1;
  assert.deepEqual(yarn({ factor: 4, original_max_position_embeddings: 100 }), {
    ...whole,
    originalTokens: 100,
    attention,
  });
  // the factor follows from the lengths, the length from the config
  assert.deepEqual(yarn({ original_max_position_embeddings: 100 }), {
    ...whole,
    originalTokens: 100,
    attention,
  });
  assert.deepEqual(yarn({ factor: 4 }), { ...whole, originalTokens: 400, attention });
  assert.deepEqual(yarn({ factor: 4, attention_factor: 0.5, beta_fast: 16, beta_slow: 2, truncate: false }), {
    ...whole,
    originalTokens: 400,
    attention: 0.5,
    betaFast: 16,
    betaSlow: 2,
    truncate: false,
  });
  const scaled = yarn({ factor: 4, mscale: 1, mscale_all_dim: 0.5 });
  const ratio = (0.1 * Math.log(4) + 1) / (0.05 * Math.log(4) + 1);
  assert.ok(scaled?.type === "yarn" && Math.abs(scaled.attention - ratio) < 1e-12);
});

test("fromHuggingFace reads which layers of SmolLM3 are not turned", () => {
  const base = { model_type: "smollm3", ...sizes };
  assert.deepEqual(read({ ...base, no_rope_layer_interval: 2 }).unturned, [1, 3]);
  assert.deepEqual(read({ ...base, no_rope_layers: [0, 1, 1, 0] }).unturned, [0, 3]);
  assert.throws(
    () => read({ ...base, no_rope_layers: [0] }),
    failsWith("checkpoint.damaged", /no_rope_layers/),
  );
});

test("toHuggingFace and fromHuggingFace are each other's inverse", () => {
  const tiny: DecoderConfig = {
    ...plain,
    ...shape,
    kvHeads: 8,
    headWidth: 6,
    ropeTheta: 1e5,
    epsilon: 1e-5,
    contextTokens: 77,
    tied: true,
  };
  const configs: readonly DecoderConfig[] = [
    tiny,
    { ...tiny, tied: false, bias: { qkv: true, output: true, feedForward: true } },
    { ...tiny, family: "qwen2", bias: { qkv: true, output: false, feedForward: false } },
    {
      ...tiny,
      family: "qwen3",
      qkNorm: true,
      headWidth: 128,
      bias: { ...plain.bias, qkv: true, output: true },
    },
    { ...tiny, family: "smollm3", unturned: [0, 3] },
    { ...tiny, family: "smollm3", unturned: [] },
    { ...tiny, ropeScaling: { type: "linear", factor: 2.5 } },
    {
      ...tiny,
      ropeScaling: { type: "llama3", factor: 8, lowFrequency: 1, highFrequency: 4, originalTokens: 20 },
    },
    {
      ...tiny,
      ropeScaling: {
        type: "yarn",
        factor: 3,
        originalTokens: 20,
        betaFast: 30,
        betaSlow: 2,
        attention: 0.8,
        truncate: false,
      },
    },
  ];
  for (const config of configs) {
    const written: Record<string, unknown> = JSON.parse(JSON.stringify(toHuggingFace(config)));
    assert.deepEqual(read(written), config);
  }
});

test("fromHuggingFace refuses by name what this engine cannot run", () => {
  const llama = { model_type: "llama", ...sizes };
  const qwen = { model_type: "qwen2", ...sizes };
  const refused: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ ...llama, model_type: "gemma3" }, /"gemma3", expected one of llama, qwen2, qwen3, smollm3/],
    [{ ...llama, architectures: ["LlamaForSequenceClassification"] }, /LlamaForSequenceClassification/],
    [{ ...llama, hidden_act: "gelu" }, /"gelu"/],
    [{ ...llama, quantization_config: { quant_method: "gptq" } }, /quantised/],
    [{ ...llama, rope_scaling: { type: "dynamic", factor: 2 } }, /"dynamic"/],
    [{ ...llama, rope_parameters: { rope_type: "longrope", rope_theta: 1e4 } }, /"longrope"/],
    [{ ...llama, partial_rotary_factor: 0.5 }, /part of a head/],
    [{ ...llama, rope_parameters: { full_attention: { rope_type: "default" } } }, /different ones per layer/],
    [{ ...qwen, use_sliding_window: true, sliding_window: 8, max_window_layers: 2 }, /sliding window/],
    [{ ...qwen, layer_types: ["full_attention", "sliding_attention"] }, /sliding window/],
    [{ ...qwen, model_type: "smollm3", use_sliding_window: true, sliding_window: 8 }, /sliding window/],
  ];
  for (const [json, message] of refused) {
    assert.throws(() => read(json), failsWith("model.unsupported", message));
  }
  // a window that no layer uses is none
  read({ ...qwen, use_sliding_window: false, sliding_window: 8, max_window_layers: 2 });
  read({ ...qwen, use_sliding_window: true, sliding_window: 8, max_window_layers: 4 });
});

test("fromHuggingFace names the field that is missing or wrong", () => {
  const llama = { model_type: "llama", ...sizes };
  const damaged: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{ ...sizes }, /no model_type/],
    [{ ...llama, hidden_size: undefined }, /hidden_size/],
    [{ ...llama, vocab_size: 1.5 }, /vocab_size/],
    // a few bytes must not ask for gigabytes
    [{ ...llama, num_hidden_layers: 1e9 }, /<=1000.*num_hidden_layers/],
    [{ ...llama, model_type: "smollm3", num_hidden_layers: 1e9 }, /num_hidden_layers/],
    [{ ...llama, hidden_size: 2 ** 40 }, /hidden_size/],
    [{ ...llama, vocab_size: 2 ** 40 }, /vocab_size/],
    [{ ...llama, max_position_embeddings: 2 ** 40 }, /max_position_embeddings/],
    [{ ...llama, num_key_value_heads: 5 }, /32 heads, which 5 kv heads/],
    [{ ...llama, head_dim: 3 }, /width 3/],
    [{ ...llama, hidden_size: 65 }, /width 2\.03/],
    [{ ...llama, rope_scaling: { type: "llama3", factor: 8 } }, /"llama3" without low_freq_factor/],
  ];
  for (const [json, message] of damaged) {
    assert.throws(() => read(json), failsWith("checkpoint.damaged", message));
  }
});
