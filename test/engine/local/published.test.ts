import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { readCheckpoint, writeCheckpoint } from "../../../src/engine/local/checkpoint.ts";
import { chatCodec } from "../../../src/engine/local/codec.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import { openPublished } from "../../../src/engine/local/published.ts";
import { type NamedTensor, writeSafetensors } from "../../../src/engine/local/safetensors.ts";
import { allTensors, chatConfig, chatMl, publish, tokenizers } from "./chatModels.ts";
import { failsWith, near } from "./support.ts";

let root = "";
before(async () => {
  root = await mkdtemp(join(tmpdir(), "whetstone-published-"));
});
after(() => rm(root, { recursive: true, force: true }));
const folder = (): Promise<string> => mkdtemp(join(root, "model"));

const config: DecoderConfig = chatConfig(tokenizers.chatMl, {
  family: "qwen2",
  bias: { qkv: true, output: false, feedForward: false },
  layers: 1,
});

async function published(more: Partial<DecoderConfig> = {}) {
  const at = await folder();
  const whole = { ...config, ...more };
  return { at, config: whole, weights: await publish(at, { config: whole, tokenizer: tokenizers.chatMl }) };
}

const weightsFile = "model.safetensors";
async function tensors(at: string, change: (all: Map<string, NamedTensor>) => void): Promise<void> {
  const path = join(at, weightsFile);
  const all = await allTensors(path);
  change(all);
  await writeSafetensors(path, [...all.values()]);
}
async function json(path: string, change: (value: Record<string, unknown>) => void): Promise<void> {
  const value: Record<string, unknown> = JSON.parse(await readFile(path, "utf8"));
  change(value);
  await writeFile(path, JSON.stringify(value));
}

test("readCheckpoint reads a published folder as a model that took no step", async () => {
  const { at, config, weights } = await published();
  const read = await readCheckpoint(at);
  assert.deepEqual(read.architecture, { config, heads: [] });
  assert.deepEqual(read.contents, { weights, steps: 0, version: 0 });
  const codec = chatCodec(read.tokenizer);
  assert.deepEqual(
    codec.open([{ role: "user", content: "hello" }]),
    chatCodec(tokenizers.chatMl).open([{ role: "user", content: "hello" }]),
  );
  assert.ok(codec.vocabulary < config.vocabulary, "tables may be longer than the tokenizer");
});

test("readCheckpoint reads shards, and weights of half the width", async () => {
  const { at, weights } = await published();
  const all = [...(await allTensors(join(at, weightsFile))).values()];
  const parts = [all.slice(0, 4), all.slice(4)];
  const map: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const name = `model-0000${i + 1}-of-00002.safetensors`;
    await writeSafetensors(join(at, name), part);
    for (const tensor of part) map[tensor.name] = name;
  }
  await rm(join(at, weightsFile));
  const index = join(at, "model.safetensors.index.json");
  await writeFile(index, JSON.stringify({ metadata: { total_size: 1 }, weight_map: map }));
  assert.deepEqual((await readCheckpoint(at)).contents.weights, weights);

  await writeFile(index, JSON.stringify({ weight_map: { ...map, more: "../model.safetensors" } }));
  await assert.rejects(readCheckpoint(at), failsWith("checkpoint.damaged", /outside the folder/));
  await writeFile(
    index,
    JSON.stringify({ weight_map: { ...map, more: "model-00001-of-00002.safetensors" } }),
  );
  await assert.rejects(readCheckpoint(at), failsWith("checkpoint.damaged", /00001-of-00002.*no tensor more/));
  await writeFile(index, JSON.stringify({ weight_map: map }));
  await rm(join(at, "model-00002-of-00002.safetensors"));
  await assert.rejects(readCheckpoint(at), failsWith("checkpoint.damaged", /model-00002-of-00002/));

  const half = await published();
  const path = join(half.at, weightsFile);
  await writeSafetensors(path, [...(await allTensors(path)).values()], "BF16");
  const { contents } = await readCheckpoint(half.at);
  for (const [name, values] of contents.weights) near(values, half.weights.get(name)!, 0.02, name);
});

test("readCheckpoint knows what may lie beside the weights, and refuses the rest", async () => {
  const { at, weights, config } = await published({ tied: true });
  const embeddings = weights.get("model.embed_tokens.weight")!;
  const shape = [config.vocabulary, config.width];
  const inverse = "model.layers.0.self_attn.rotary_emb.inv_freq";
  await tensors(at, (all) => {
    all.set(inverse, { name: inverse, shape: [2], data: Float32Array.of(1, 0.1) });
    all.set("lm_head.weight", { name: "lm_head.weight", shape, data: embeddings });
  });
  assert.deepEqual((await readCheckpoint(at)).contents.weights, weights);
  await tensors(at, (all) => {
    const changed = embeddings.map((x, i) => (i === 5 ? x + 1 : x));
    all.set("lm_head.weight", { name: "lm_head.weight", shape, data: changed });
  });
  await assert.rejects(readCheckpoint(at), failsWith("checkpoint.damaged", /lm_head\.weight that differs/));
});

type Fault = readonly [what: string, code: ErrorCode, message: RegExp, (at: string) => Promise<void>];
const faults: readonly Fault[] = [
  [
    "a bias missing",
    "checkpoint.damaged",
    /model\.safetensors: got no tensor model\.layers\.0\.self_attn\.k_proj\.bias/,
    (at) => tensors(at, (all) => void all.delete("model.layers.0.self_attn.k_proj.bias")),
  ],
  [
    "a tensor too many",
    "checkpoint.damaged",
    /the tensor model\.layers\.0\.self_attn\.o_proj\.bias, which the model does not have/,
    (at) =>
      tensors(at, (all) => {
        const name = "model.layers.0.self_attn.o_proj.bias";
        all.set(name, { name, shape: [16], data: new Float32Array(16) });
      }),
  ],
  [
    "no weights but PyTorch's",
    "model.unsupported",
    /pytorch_model\.bin only/,
    async (at) => {
      await rm(join(at, weightsFile));
      await writeFile(join(at, "pytorch_model.bin"), "");
    },
  ],
  [
    "another architecture",
    "model.unsupported",
    /config\.json: got a model of type "mamba"/,
    (at) => json(join(at, "config.json"), (c) => void (c.model_type = "mamba")),
  ],
  [
    "more tokens than the model",
    "checkpoint.damaged",
    /tokenizer\.json: got a tokenizer that does not match: \d+ tokens where the model has 270/,
    async (at) => {
      await json(join(at, "config.json"), (c) => void (c.vocab_size = 270));
    },
  ],
  [
    "no chat template",
    "template.failed",
    /model.*chat template: got none/,
    (at) => json(join(at, "tokenizer_config.json"), (c) => delete c.chat_template),
  ],
  [
    "an optimiser without counters",
    "checkpoint.damaged",
    /trainer\.json/,
    (at) => cp(join(at, weightsFile), join(at, "optimiser.safetensors")),
  ],
];

test("readCheckpoint says in one error what is wrong with a published folder", async (t) => {
  for (const [what, code, message, spoil] of faults) {
    await t.test(what, async () => {
      const { at } = await published();
      await spoil(at);
      await assert.rejects(readCheckpoint(at), failsWith(code, message));
    });
  }
});

test("readCheckpoint finds the chat template in each of its places", async () => {
  const other = chatMl.replace("Be brief.", "Be kind.");
  const read = async (at: string) => (await readCheckpoint(at)).tokenizer.template;
  const { at } = await published();
  const config = join(at, "tokenizer_config.json");
  await json(config, (c) => {
    c.chat_template = [
      { name: "tool_use", template: other },
      { name: "default", template: chatMl },
    ];
  });
  assert.equal(await read(at), chatMl);
  await writeFile(join(at, "chat_template.json"), JSON.stringify({ chat_template: other }));
  assert.equal(await read(at), other);
  await writeFile(join(at, "chat_template.jinja"), chatMl);
  assert.equal(await read(at), chatMl);
});

test("a saved checkpoint has every other file of its origin as it was, and the same again when read and saved", async () => {
  const { at, weights } = await published();
  await writeFile(join(at, "chat_template.jinja"), chatMl);
  await writeFile(join(at, "special_tokens_map.json"), '{"eos_token":  "<|im_end|>"}');
  await writeFile(join(at, "README.md"), "not ours to copy");
  const first = await readCheckpoint(at);
  const { config } = first.architecture;
  const limited = { ...first, architecture: { heads: [], config: { ...config, contextTokens: 100 } } };
  const variables = { enable_thinking: false };
  const tokenizer = { ...limited.tokenizer, variables };
  const saved = await folder();
  await writeCheckpoint(saved, { ...limited, tokenizer }, { ...first.contents, version: 3 });

  const bytes = (folder: string, name: string) => readFile(join(folder, name), "utf8");
  const kept = [
    "tokenizer.json",
    "tokenizer_config.json",
    "generation_config.json",
    "chat_template.jinja",
    "special_tokens_map.json",
  ];
  for (const name of kept) assert.equal(await bytes(saved, name), await bytes(at, name), name);
  assert.deepEqual(
    (await readdir(saved)).sort(),
    [...kept, "config.json", "model.safetensors", "trainer.json"].sort(),
  );
  const [before, now]: Record<string, unknown>[] = await Promise.all(
    [at, saved].map(async (folder) => JSON.parse(await bytes(folder, "config.json"))),
  );
  assert.deepEqual(now, { ...before, torch_dtype: "float32" }, "the config but for the type of the weights");

  const second = await readCheckpoint(saved);
  assert.equal(second.architecture.config.contextTokens, 100, "the run's own limit");
  assert.deepEqual(second, {
    architecture: limited.architecture,
    tokenizer,
    contents: { weights, steps: 0, version: 3 },
  });
  const again = await folder();
  await writeCheckpoint(again, second, second.contents);
  for (const name of await readdir(saved)) {
    assert.deepEqual(await readFile(join(again, name)), await readFile(join(saved, name)), name);
  }
});

test("openPublished takes a folder or an id, and a context that the model allows", async () => {
  const { at, config } = await published();
  assert.equal((await openPublished({ from: at }, 40)).config.contextTokens, 40);
  await assert.rejects(
    openPublished({ from: at }, config.contextTokens + 1),
    failsWith("context.tooLong", /a request for 513 tokens, expected at most the model's 512/),
  );
  const missing = join(root, "nowhere");
  await assert.rejects(openPublished({ from: missing }, 9), failsWith("checkpoint.missing", /nowhere/));
  const environment = { HF_HOME: root, HF_HUB_OFFLINE: "1" };
  await assert.rejects(
    openPublished({ from: "somebody/model", hub: { environment } }, 9),
    failsWith("hub.unreachable", /somebody\/model at main/),
  );
});

test("localEngine begins from a checkpoint and saves one", async () => {
  const { at, config, weights } = await published();
  const engine = localEngine({ from: at, threads: 2 });
  try {
    const model = await engine.create({
      id: "policy",
      seed: 1,
      vocabulary: ["not used"],
      contextTokens: 128,
    });
    assert.equal(model.contextTokens, 128);
    const prompt = model.codec.open([{ role: "user", content: "hello" }]);
    const [sample] = await model.sample([{ prompt, maxTokens: 4, seed: 1 }]);
    const rows = {
      tokens_N: Int32Array.from([...prompt, ...sample!.action]),
      rowOffset: Int32Array.of(0, prompt.length + sample!.action.length),
      target_A: Int32Array.from(sample!.action, (_, i) => prompt.length + i),
      targetOffset: Int32Array.of(0, sample!.action.length),
    };
    const { logp } = await model.score(rows);
    near(logp, sample!.logp, 1e-4, "what was sampled is what is scored");
    const saved = await folder();
    await model.save(saved);
    assert.deepEqual((await readCheckpoint(saved)).contents.weights, weights);
    await model.load(saved);
    const opened = await engine.open("policy", saved);
    assert.equal(opened.contextTokens, 128);
    assert.deepEqual((await opened.score(rows)).logp, logp);
    await assert.rejects(
      engine.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: 1 + config.contextTokens }),
      failsWith("context.tooLong"),
    );
  } finally {
    await engine.dispose();
  }
});

test("a GGUF file, a folder of them, another file and a folder without a config are told apart, before the Hub is asked", async () => {
  const at = await folder();
  const gguf = join(at, "qwen.Q4_K_M.gguf");
  await writeFile(gguf, "GGUF");
  const open = (from: string) => openPublished({ from }, 10);
  await assert.rejects(
    open(gguf),
    failsWith("checkpoint.damaged", /Q4_K_M\.gguf: got 4 bytes, expected a whole GGUF/),
  );
  await assert.rejects(
    open("owner/model.gguf"),
    failsWith("checkpoint.missing", /gguf", which is not there/),
  );
  // the only one in its folder is meant
  await assert.rejects(open(at), failsWith("checkpoint.damaged", /Q4_K_M\.gguf: got 4 bytes/));
  await writeFile(join(at, "qwen.Q8_0.gguf"), "GGUF");
  await assert.rejects(open(at), failsWith("checkpoint.missing", /a folder with 2 GGUF files/));
  const other = await folder();
  await assert.rejects(open(other), failsWith("checkpoint.missing", /a folder without a config\.json/));
  await writeFile(join(other, "weights"), "");
  await assert.rejects(open(join(other, "weights")), failsWith("checkpoint.missing", /which is a file/));
});
