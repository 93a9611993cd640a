import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { ErrorCode } from "../../../src/core/errors.ts";
import { randomStream } from "../../../src/core/random.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import {
  type Adapter,
  adapterParameters,
  projections,
  type Weights,
} from "../../../src/engine/local/parameters.ts";
import { mergeAdapter, readPeft, writePeft } from "../../../src/engine/local/peft.ts";
import { type NamedTensor, writeSafetensors } from "../../../src/engine/local/safetensors.ts";
import { allTensors } from "./chatModels.ts";
import { failsWith, tinyConfig } from "./support.ts";

let root = "";
before(async () => {
  root = await mkdtemp(join(tmpdir(), "whetstone-peft-"));
});
after(() => rm(root, { recursive: true, force: true }));
const folder = (): Promise<string> => mkdtemp(join(root, "adapter"));

const config: DecoderConfig = { ...tinyConfig, layers: 2 };
const adapter: Adapter = { rank: 3, alpha: 6, targets: ["q_proj", "v_proj", "down_proj"] };

function lively(of: Adapter): Weights {
  const random = randomStream("peft");
  return new Map(
    adapterParameters(config, of).map(({ name, shape }) => {
      const stream = random.split(name);
      const size = shape.reduce((a, b) => a * b, 1);
      return [name, Float32Array.from({ length: size }, () => stream.normal())];
    }),
  );
}
const tensors = lively(adapter);

const adapterConfig = async (at: string, change: Record<string, unknown>): Promise<void> => {
  const path = join(at, "adapter_config.json");
  const json: Record<string, unknown> = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...json, ...change }));
};

async function written(of: Adapter = adapter, change: Record<string, unknown> = {}): Promise<string> {
  const at = await folder();
  await writePeft(at, config, of, lively(of), "somebody/base");
  await adapterConfig(at, change);
  return at;
}

test("writePeft writes what PEFT reads: its names, its settings", async () => {
  const at = await written();
  const saved = await allTensors(join(at, "adapter_model.safetensors"));
  const q = saved.get("base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight");
  assert.deepEqual(q?.shape, [3, config.width]);
  const down = saved.get("base_model.model.model.layers.0.mlp.down_proj.lora_B.weight");
  assert.deepEqual(down?.shape, [config.width, 3]);
  assert.equal(saved.size, config.layers * 3 * 2);
  const json: unknown = JSON.parse(await readFile(join(at, "adapter_config.json"), "utf8"));
  assert.partialDeepStrictEqual(json, {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: "somebody/base",
    r: 3,
    lora_alpha: 6,
    target_modules: ["q_proj", "v_proj", "down_proj"],
    bias: "none",
    modules_to_save: null,
    use_dora: false,
    use_rslora: false,
  });
});

test("readPeft gives back what writePeft wrote, bit by bit", async () => {
  assert.deepEqual(await readPeft(await written(), config), { adapter, tensors });
});

test("readPeft turns the scale of rank-stabilised LoRA into an alpha", async () => {
  // s = 6 / √3 = alpha / 3 for alpha = 6 √3
  const { adapter: read } = await readPeft(await written(adapter, { use_rslora: true }), config);
  assert.ok(Math.abs(read.alpha - 6 * Math.sqrt(3)) < 1e-12);
});

test("readPeft knows the forms of target_modules", async () => {
  const forms: readonly (readonly [unknown, Adapter["targets"]])[] = [
    [
      ["v_proj", "self_attn.q_proj"],
      ["q_proj", "v_proj"],
    ],
    [[0, 1].flatMap((i) => [`model.layers.${i}.mlp.up_proj`]), ["up_proj"]],
    ["all-linear", projections],
    [".*\\.self_attn\\.(q|o)_proj", ["q_proj", "o_proj"]],
    [null, ["k_proj", "gate_proj"]],
  ];
  for (const [form, targets] of forms) {
    const at = await written({ ...adapter, targets }, { target_modules: form });
    assert.deepEqual((await readPeft(at, config)).adapter.targets, targets, JSON.stringify(form));
  }
});

test("readPeft ignores settings that it does not know", async () => {
  const at = await written(adapter, {
    corda_config: null,
    eva_config: null,
    peft_version: "9",
    qalora: false,
  });
  assert.deepEqual((await readPeft(at, config)).adapter, adapter);
});

test("readPeft refuses what is no plain LoRA, and names it", async () => {
  const refusals: readonly (readonly [Record<string, unknown>, RegExp, ErrorCode?])[] = [
    [{ peft_type: "IA3" }, /type IA3/],
    [{ use_dora: true }, /use_dora true/],
    [{ modules_to_save: ["lm_head"] }, /modules_to_save \["lm_head"\]/],
    [{ bias: "lora_only" }, /bias "lora_only"/],
    [{ rank_pattern: { q_proj: 4 } }, /rank_pattern/],
    [{ layers_to_transform: [0] }, /layers_to_transform/],
    [{ target_modules: ["q_proj", "lm_head"] }, /lm_head as a target/],
    [{ target_modules: ["q_proj", "query_key_value"] }, /query_key_value as a target/],
    [{ target_modules: ".*(q_proj|lm_head)" }, /lm_head as a target/],
    [{ target_modules: ".*layers\\.0\\..*q_proj" }, /q_proj as a target in some layers only/],
    [{ target_modules: "(" }, /an invalid expression/],
    [{ target_modules: "nothing" }, /match nothing/, "checkpoint.damaged"],
    [{ r: 0 }, /r/, "checkpoint.damaged"],
  ];
  for (const [change, message, code = "model.unsupported"] of refusals) {
    const at = await written(adapter, change);
    await assert.rejects(readPeft(at, config), failsWith(code, message));
  }
});

test("readPeft names the tensor that is missing, too many, of another shape or not a number", async () => {
  const whole = await written();
  const name = "base_model.model.model.layers.1.self_attn.v_proj.lora_B.weight";
  const damages: readonly (readonly [(all: Map<string, NamedTensor>) => void, RegExp])[] = [
    [(all) => void all.delete(name), /no tensor .*layers\.1.*v_proj\.lora_B/],
    [(all) => void all.set("x", { ...all.get(name)!, name: "x" }), /the tensor x, which/],
    [(all) => void all.set(name, { ...all.get(name)!, shape: [3, 8] }), /v_proj.*shape \[3, 8\]/],
    [(all) => void all.get(name)!.data.set([Number.NaN], 2), /v_proj\.lora_B\.weight\[2\] = NaN/],
  ];
  for (const [damage, message] of damages) {
    const at = await folder();
    await cp(whole, at, { recursive: true });
    const path = join(at, "adapter_model.safetensors");
    const all = await allTensors(path);
    damage(all);
    await writeSafetensors(path, [...all.values()]);
    await assert.rejects(readPeft(at, config), failsWith("checkpoint.damaged", message));
  }
  const other = { ...config, width: 2 * config.width };
  await assert.rejects(readPeft(whole, other), failsWith("checkpoint.damaged", /of shape/));
});

test("mergeAdapter adds alpha / rank · B A to the weights of its targets alone", () => {
  // rank 1, s = 2: B = [1, −1], A = [3, 4] → 2 · [[3, 4], [−3, −4]]
  const weights: Weights = new Map([
    ["p.weight", Float32Array.of(1, 1, 1, 1)],
    ["q.weight", Float32Array.of(5)],
  ]);
  const merged = mergeAdapter(
    weights,
    { rank: 1, alpha: 2 },
    new Map([
      ["p.lora_A.weight", Float32Array.of(3, 4)],
      ["p.lora_B.weight", Float32Array.of(1, -1)],
    ]),
  );
  assert.deepEqual([...merged.get("p.weight")!], [7, 9, -5, -7]);
  assert.equal(merged.get("q.weight"), weights.get("q.weight"));
  assert.deepEqual([...weights.get("p.weight")!], [1, 1, 1, 1], "the weights themselves stay");
  assert.throws(
    () => mergeAdapter(weights, { rank: 1, alpha: 2 }, new Map([["z.lora_A.weight", Float32Array.of(1)]])),
    failsWith("shape.mismatch", /z/),
  );
});
