import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Model } from "../../../src/core/model.ts";
import { readCheckpoint } from "../../../src/engine/local/checkpoint.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import {
  type NamedTensor,
  readSafetensors,
  writeSafetensors,
} from "../../../src/engine/local/safetensors.ts";
import { wordTokenizer } from "../../../src/engine/local/tokenizer.ts";
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

test("writeSafetensors writes the format byte by byte", () => {
  const data = Float32Array.of(1, -2, 0.5, 3);
  const bytes = writeSafetensors([
    { name: "a", shape: [1, 2], data: data.subarray(0, 2) },
    { name: "b", shape: [2], data: data.subarray(2) },
  ]);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const length = Number(view.getBigUint64(0, true));
  assert.equal(length % 8, 0, "values are aligned");
  const header = new TextDecoder().decode(bytes.subarray(8, 8 + length));
  assert.equal(header[0], "{");
  assert.deepEqual(JSON.parse(header), {
    __metadata__: { format: "pt" },
    a: { dtype: "F32", shape: [1, 2], data_offsets: [0, 8] },
    b: { dtype: "F32", shape: [2], data_offsets: [8, 16] },
  });
  assert.equal(bytes.length, 8 + length + 16);
  // 1 = 0x3f800000 and −2 = 0xc0000000, least byte first
  assert.deepEqual([...bytes.subarray(8 + length, 16 + length)], [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
  assert.equal(view.getFloat32(16 + length, true), 0.5);
});

test("readSafetensors gives every bit back, also from the middle of a buffer", () => {
  const data = Float32Array.of(1e-42, -0, 3.4e38, Math.fround(0.1));
  const tensors: NamedTensor[] = [
    { name: "x.weight", shape: [2, 2], data },
    { name: "nothing", shape: [0], data: new Float32Array() },
    { name: "scalar", shape: [], data: Float32Array.of(7) },
  ];
  const bytes = writeSafetensors(tensors);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  for (const read of [readSafetensors(bytes, "x"), readSafetensors(shifted.subarray(3), "x")]) {
    assert.deepEqual([...read.values()], tensors);
  }
});

test("readSafetensors never takes a header with one bit flipped for another file of the same tensors", () => {
  const data = Float32Array.from({ length: 12 }, (_, i) => i + 1);
  const whole = writeSafetensors([
    { name: "first", shape: [2, 3], data: data.subarray(0, 6) },
    { name: "second", shape: [6], data: data.subarray(6) },
  ]);
  const length = Number(new DataView(whole.buffer).getBigUint64(0, true));
  for (let bit = 0; bit < 8 * (8 + length); bit++) {
    const bytes = whole.slice();
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    let read: Map<string, NamedTensor>;
    try {
      read = readSafetensors(bytes, "flipped.safetensors");
    } catch (e) {
      failsWith("checkpoint.damaged", /^flipped\.safetensors/)(e);
      continue;
    }
    // what is read under its own name and shape is right; the rest is missed by the one who asks for it
    for (const [name, shape, from] of [
      ["first", "2,3", 0],
      ["second", "6", 6],
    ] as const) {
      const tensor = read.get(name);
      if (tensor?.shape.join() === shape) {
        assert.deepEqual(tensor.data, data.slice(from, from + 6), `bit ${bit}`);
      }
    }
  }
});

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
  const all = readSafetensors(await readFile(path), path);
  change(all);
  await writeFile(path, writeSafetensors([...all.values()]));
};
const norm = "model.norm.weight";

const damages: readonly Damage[] = [
  ...["model", "optimiser"].flatMap((name): Damage[] => [
    [`${name}.safetensors`, "missing", (p) => rm(p)],
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
