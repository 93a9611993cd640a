import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { actionRows } from "../../../src/common/tokens/pack.ts";
import type { Batch } from "../../../src/core/batch.ts";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import type { Frozen, Model } from "../../../src/core/model.ts";
import type { Objective } from "../../../src/core/objective.ts";
import { vocabularyCodec } from "../../../src/engine/tabular/codec.ts";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { type TabularModel, tabularModel } from "../../../src/engine/tabular/model.ts";
import { newWeights } from "../../../src/engine/tabular/weights.ts";
import { batchOfRows, trajectoryOf, turnOf } from "../../core/make.ts";

const engine = tabularEngine();
const folder = (): string => mkdtempSync(join(tmpdir(), "tabular-"));
const fileIn = (at: string): string => join(at, "tabular.json");
const fresh = (text = "a b c", context = 2, contextTokens = 32): TabularModel =>
  tabularModel("policy", newWeights(vocabularyCodec([text, "say"]), context), contextTokens);

function batchFor({ codec }: TabularModel): Batch {
  const prompt = [...codec.open([{ role: "user", content: "say" }])];
  const action = [...codec.encode("a b"), codec.endId];
  const rows = actionRows(trajectoryOf("t", [turnOf(prompt, action)]));
  return { ...batchOfRows([{ behaviour: [0, 0, 0], advantage: [0, 0, 0] }]), ...rows };
}

const push: Objective<null> = {
  name: "push",
  together: "row",
  wants: () => ({ heads: ["value"] }),
  prepare: async () => null,
  evaluate: () => ({
    loss: 0,
    cotangents: { logp: Float32Array.of(-1, 2, -0.5), heads: { value: Float32Array.of(1, 2, 3) } },
    stats: {},
  }),
};

async function trained(model = fresh()): Promise<TabularModel> {
  await model.accumulate(batchFor(model), push, null);
  await model.step({ learningRate: 0.5 });
  return model;
}

/** Logits and a value at every target. */
const said = async (model: TabularModel): Promise<unknown> =>
  model.score(batchFor(model), { heads: ["value"], topk: 3 });

const damagedAt =
  (at: string, reason: RegExp = /./) =>
  (e: unknown): true => {
    assert.ok(isWhetstoneError(e), `not a WhetstoneError: ${String(e)}`);
    assert.equal(e.code, "checkpoint.damaged");
    assert.equal(e.parts.where, fileIn(at));
    assert.match(e.parts.got, reason);
    assert.match(e.message, /Resume from an earlier checkpoint/);
    return true;
  };

interface Part {
  contexts: unknown[];
  arrays: Record<string, unknown[]>;
}
type Loose = Record<string, unknown> & { words: string[]; parts: Record<string, Part> };
type Damage = readonly [what: string, reason: RegExp, change: (file: string) => void];

const json = (change: (saved: Loose) => unknown) => (file: string) => {
  const saved: Loose = JSON.parse(readFileSync(file, "utf8"));
  change(saved);
  writeFileSync(file, JSON.stringify(saved));
};
const logits = (change: (part: Part) => unknown) => json(({ parts }) => change(parts.logits!));

const damages: readonly Damage[] = [
  ["missing", /ENOENT/, (file) => rmSync(file)],
  ["empty", /JSON/, (file) => truncateSync(file, 0)],
  ["longer by a byte", /JSON/, (file) => writeFileSync(file, "x", { flag: "a" })],
  ["not JSON", /JSON/, (file) => writeFileSync(file, Uint8Array.of(0x89, 0x50, 0x4e, 0x47))],
  ["null", /expected object/, (file) => writeFileSync(file, "null")],
  ["a list", /expected object/, (file) => writeFileSync(file, "[]")],
  ["another program's object", /format/, (file) => writeFileSync(file, `{"model_type": "llama"}`)],
  ["a later format", /format/, json((s) => (s.format = 2))],
  ["a field more", /nrecognized/, json((s) => (s.more = 1))],
  ...["words", "context", "contextTokens", "steps", "parts"].map(
    (field): Damage => [`no ${field}`, new RegExp(`${field}: `), json((s) => delete s[field])],
  ),
  ["steps below zero", /steps: /, json((s) => (s.steps = -1))],
  ["a word given twice", /a duplicate word/, json((s) => (s.words[1] = s.words[0]!))],
  ["fewer words", /logits\.weights of 15 numbers instead of 12/, json((s) => s.words.pop())],
  ["a part of another name", /parts\.embedding/, json((s) => (s.parts.embedding = s.parts.logits!))],
  ["no weights", /parts\.logits\.arrays\.weights/, logits((p) => delete p.arrays.weights)],
  ["an array of another name", /nrecognized/, logits((p) => (p.arrays.other = []))],
  ["a number missing", /logits\.m of 14 numbers instead of 15/, logits((p) => p.arrays.m!.pop())],
  ["a number more", /logits\.v of 16 numbers instead of 15/, logits((p) => p.arrays.v!.push(1))],
  ["a number that was NaN", /arrays\.weights\.3: /, logits((p) => (p.arrays.weights![3] = null))],
  ["a text for a number", /arrays\.m\.0: /, logits((p) => (p.arrays.m![0] = "1"))],
  ["a context missing", /of 15 numbers instead of 10/, logits((p) => p.contexts.pop())],
  [
    "a context given twice",
    /logits with a duplicate context/,
    logits((p) => (p.contexts[1] = p.contexts[0])),
  ],
  [
    "a head's number missing",
    /head\.value\.weights of 2 numbers instead of 3/,
    json((s) => s.parts["head.value"]!.arrays.weights!.pop()),
  ],
];

test("a damaged tabular checkpoint is refused with the name of its file, and the model stays as it is", async (t) => {
  const model = await trained();
  const before = await said(model);
  for (const [what, reason, change] of damages) {
    await t.test(what, async () => {
      const at = folder();
      await model.save(at);
      await engine.open("policy", at);
      change(fileIn(at));
      await assert.rejects(engine.open("policy", at), damagedAt(at, reason));
      await assert.rejects(model.load(at), damagedAt(at, reason));
    });
  }
  assert.deepEqual(await said(model), before);
  assert.equal(model.version, "1");
});

test("a tabular checkpoint cut short anywhere is refused", async () => {
  const model = await trained();
  const at = folder();
  await model.save(at);
  const whole = readFileSync(fileIn(at));
  for (let length = whole.length - 1; length > 0; length -= 9) {
    writeFileSync(fileIn(at), whole.subarray(0, length));
    await assert.rejects(model.load(at), damagedAt(at));
  }
  writeFileSync(fileIn(at), whole);
  await model.load(at);
});

test("tabular load takes back what was saved, and refuses other words and other shapes", async () => {
  const model = await trained();
  const at = folder();
  await model.save(at);
  const before = await said(model);
  await trained(model);
  assert.notDeepEqual(await said(model), before);
  await model.load(at);
  assert.deepEqual(await said(model), before);
  assert.equal(model.version, "1");
  for (const [other, reason] of [
    [fresh("a b d"), /the words of another model/],
    [fresh("a b c", 3), /a model of another shape/],
    [fresh("a b c", Number.POSITIVE_INFINITY), /a model of another shape/],
    [fresh("a b c", 2, 64), /a model of another shape/],
  ] as const) {
    const foreign = folder();
    await other.save(foreign);
    await assert.rejects(model.load(foreign), damagedAt(foreign, reason));
  }
  assert.deepEqual(await said(model), before);
});

test("a tabular model saved before its first step opens as it was", async () => {
  const model = fresh();
  await model.accumulate(batchFor(model), push, null);
  const at = folder();
  await model.save(at);
  const opened = await engine.open("policy", at);
  assert.equal(opened.version, "0");
  assert.equal(opened.parameters, model.parameters);
  // gradients are not saved
  assert.equal((await opened.step({ learningRate: 1 })).gradientNorm, 0);
});

test("tabular save into a folder that is not there says so", async () => {
  const missing = join(folder(), "not", "there");
  await assert.rejects(fresh().save(missing), { code: "disk.write", message: /not\/there/ });
});

test("tabular blends and pulls refuse models of another engine, and move nothing", async () => {
  const model = await trained();
  const before = await said(model);
  const frozen = await model.freeze();
  const refused = { code: "capability.missing", message: /a model of another engine/ };
  // what the contract asks of a model and of a frozen one, and nothing of this engine
  const { codec, version, sample, score, blend, save, dispose } = frozen;
  const toward: Frozen = { codec, version, sample, score, blend, save, dispose };
  const { id, can, contextTokens, parameters, accumulate, step, freeze, fork, load } = model;
  const foreign: Model = {
    ...{ id, version, can, codec, contextTokens, parameters, sample, score, save, dispose },
    ...{ accumulate, step, freeze, fork, load },
  };
  await assert.rejects(frozen.blend(foreign, 1), refused);
  await model.accumulate(batchFor(model), push, null);
  await assert.rejects(model.step({ learningRate: 1, pull: { toward, strength: 1 } }), refused);
  assert.deepEqual(await said(model), before);
  assert.equal(model.version, "1");
});

test("tabular blends and pulls know their models behind a proxy", async () => {
  const model = await trained();
  const frozen = await model.freeze();
  const before = await said(model);
  await model.accumulate(batchFor(model), push, null);
  const pull = { toward: new Proxy(frozen, {}), strength: 2 };
  await model.step({ learningRate: 0.5, optimiser: "sgd", pull });
  assert.deepEqual(await said(model), before);
  await frozen.blend(new Proxy(await trained(model), {}), 1);
  assert.deepEqual((await frozen.score(batchFor(model))).logp, (await model.score(batchFor(model))).logp);
});
