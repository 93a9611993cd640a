import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Model } from "../../../src/core/model.ts";
import { readCheckpoint } from "../../../src/engine/local/checkpoint.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import { type NamedTensor, writeSafetensors } from "../../../src/engine/local/safetensors.ts";
import { wordTokenizer } from "../../../src/engine/local/tokenizer.ts";
import { allTensors } from "./chatModels.ts";
import { bench, coefficientsFor, failsWith, linear, randomBatch, rowsOf } from "./support.ts";

let root = "";
before(async () => {
  root = await mkdtemp(join(tmpdir(), "whetstone-local-"));
});
after(() => rm(root, { recursive: true, force: true }));
const folder = (name: string): Promise<string> => mkdtemp(join(root, name));

const batch = randomBatch([12, 7], "checkpoint");
const rows = rowsOf([[4, 9, 5, 11, 12, 13]]);
async function train(model: Model, seed: string): Promise<void> {
  await model.accumulate(batch, linear(coefficientsFor(batch, seed)), null);
  await model.step({ learningRate: 0.05, weightDecay: 0.1 });
}

test("save and load give back every bit: two more steps are the same steps", async () => {
  await using engine = bench();
  const { model } = await engine.make({ tied: false });
  await train(model, "one");
  await train(model, "two");
  const at = await folder("round");
  await model.save(at);
  const saved = await engine.host.call("contents", 1);
  await train(model, "three");
  await train(model, "four");
  const gone = await engine.host.call("contents", 1);
  assert.equal(model.version, "4");

  await model.load(at);
  assert.equal(model.version, "2");
  assert.deepEqual(await engine.host.call("contents", 1), saved);
  await train(model, "three");
  await train(model, "four");
  assert.deepEqual(await engine.host.call("contents", 1), gone);

  // and in another engine
  const other = localEngine({ threads: 2 });
  const opened = await other.open("policy", at);
  assert.equal(opened.version, "2");
  await train(opened, "three");
  await train(opened, "four");
  assert.deepEqual(await opened.score(rows, { entropy: true }), await model.score(rows, { entropy: true }));
  await other.dispose();
});

test("save and load of a model that only ever took plain steps, and of a frozen one", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  await model.accumulate(batch, linear(coefficientsFor(batch, "plain")), null);
  await model.step({ optimiser: "sgd", learningRate: 0.01 });
  const [plain, kept] = [await folder("plain"), await folder("frozen")];
  await model.save(plain);
  const frozen = await model.freeze();
  await frozen.save(kept);
  const before = await model.score(rows);
  for (const at of [plain, kept]) {
    await train(model, "away");
    await model.load(at);
    assert.equal(model.version, "1");
    assert.deepEqual(await model.score(rows), before);
  }
});

test("load forgets gradients of before", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const at = await folder("gradients");
  await model.save(at);
  await model.accumulate(batch, linear(coefficientsFor(batch, "old")), null);
  await model.load(at);
  assert.equal((await model.step({ learningRate: 1 })).skipped, 1);
});

type Damage = readonly [file: string, what: string, change: (path: string) => Promise<void>];

const json = async (path: string, change: (value: Record<string, unknown>) => void): Promise<void> => {
  const value: Record<string, unknown> = JSON.parse(await readFile(path, "utf8"));
  change(value);
  await writeFile(path, JSON.stringify(value));
};
const tensors = async (path: string, change: (all: Map<string, NamedTensor>) => void): Promise<void> => {
  const all = await allTensors(path);
  change(all);
  await writeSafetensors(path, [...all.values()]);
};
const norm = "model.norm.weight";

const damages: readonly Damage[] = [
  ...["model", "optimiser"].flatMap((name): Damage[] => [
    [`${name}.safetensors`, "missing", (p) => rm(p)],
    [`${name}.safetensors`, "a folder", (p) => rm(p).then(() => mkdir(p))],
    [`${name}.safetensors`, "empty", (p) => truncate(p, 0)],
    [`${name}.safetensors`, "cut short in its header", (p) => truncate(p, 100)],
    [`${name}.safetensors`, "cut short by a byte", async (p) => truncate(p, (await readFile(p)).length - 1)],
    [`${name}.safetensors`, "longer by a byte", async (p) => writeFile(p, "x", { flag: "a" })],
  ]),
  ["model.safetensors", "a tensor missing", (p) => tensors(p, (all) => void all.delete(norm))],
  [
    "model.safetensors",
    "a tensor of another shape",
    (p) => tensors(p, (all) => void all.set(norm, { ...all.get(norm)!, shape: [4, 4] })),
  ],
  [
    "model.safetensors",
    "a tensor with NaN",
    (p) => tensors(p, (all) => void all.get(norm)!.data.set([Number.NaN], 3)),
  ],
  [
    "model.safetensors",
    "a tensor too many",
    (p) => tensors(p, (all) => void all.set("extra", { ...all.get(norm)!, name: "extra" })),
  ],
  [
    "optimiser.safetensors",
    "a tensor missing",
    (p) => tensors(p, (all) => void all.delete(`second.${norm}`)),
  ],
  ["config.json", "missing", (p) => rm(p)],
  ["config.json", "not JSON", (p) => truncate(p, 20)],
  ["config.json", "a field missing", (p) => json(p, (c) => delete c.hidden_size)],
  ["config.json", "heads that do not divide", (p) => json(p, (c) => void (c.num_key_value_heads = 3))],
  ["trainer.json", "missing", (p) => rm(p)],
  ["trainer.json", "other fields", (p) => writeFile(p, "{}")],
  ["tokenizer.json", "missing", (p) => rm(p)],
  ["tokenizer.json", "a list", (p) => writeFile(p, "[]")],
  ["tokenizer.json", "empty", (p) => writeFile(p, "{}")],
  [
    "tokenizer.json",
    "fewer words",
    (p) => writeFile(p, JSON.stringify(wordTokenizer(["few words"]).tokenizer)),
  ],
  ["tokenizer_config.json", "missing", (p) => rm(p)],
];

test("a damaged checkpoint is refused with the name of its file, and the model stays as it is", async (t) => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  await train(model, "whole");
  const whole = await folder("whole");
  await model.save(whole);
  await readCheckpoint(whole);
  const before = await model.score(rows);
  for (const [file, what, change] of damages) {
    await t.test(`${file}: ${what}`, async () => {
      const at = await folder("damaged");
      await cp(whole, at, { recursive: true });
      await change(join(at, file));
      const named = new RegExp(`${file.replace(".", "\\.")}: got`);
      await assert.rejects(readCheckpoint(at), failsWith("checkpoint.damaged", named));
      await assert.rejects(model.load(at), failsWith("checkpoint.damaged", named));
    });
  }
  assert.deepEqual(await model.score(rows), before);
  assert.equal(model.version, "1");
});

test("load refuses a whole checkpoint of another shape or other words", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const { model: deeper } = await engine.make({ layers: 2 });
  const words = wordTokenizer([Array.from({ length: 24 }, (_, i) => `v${i}`).join(" ")]);
  const { model: foreign } = await engine.make({ layers: 1 }, { tokenizer: words });
  for (const [other, message] of [
    [deeper, /another shape/],
    [foreign, /the words of another model/],
  ] as const) {
    const at = await folder("other");
    await other.save(at);
    await assert.rejects(model.load(at), failsWith("checkpoint.damaged", message));
  }
});

test("save into a folder that is not there says so", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const missing = join(root, "not", "there");
  await assert.rejects(model.save(missing), failsWith("disk.write", /not\/there/));
});
