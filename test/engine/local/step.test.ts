// Optimiser steps, copies of models and arithmetic on gradients.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Model, StepRule } from "../../../src/core/model.ts";
import type { Weights } from "../../../src/engine/local/parameters.ts";
import { type ModelState, mainGradient, optimiserStep } from "../../../src/engine/local/weights.ts";
import {
  bench,
  bitsOf,
  coefficientsFor,
  failsWith,
  type Linear,
  linear,
  near,
  randomBatch,
  rowsOf,
} from "./support.ts";

const stateOf = (weights: Record<string, number[]>): ModelState => ({
  weights: new Map(Object.entries(weights).map(([name, xs]) => [name, Float32Array.from(xs)])),
  trained: new Set(Object.keys(weights)),
  steps: 0,
  version: 0,
  gradients: new Map(),
});

function stepWith(state: ModelState, gradient: Record<string, number[]>, rule: StepRule) {
  state.gradients.set(mainGradient, stateOf(gradient).weights);
  return optimiserStep(state, rule);
}

const values = (state: ModelState): Record<string, number[]> =>
  Object.fromEntries([...state.weights].map(([name, xs]) => [name, [...xs]]));

test("step with AdamW follows two steps worked out by hand", () => {
  const state = stateOf({ w: [1, -2] });
  const rule: StepRule = { learningRate: 0.1, betas: [0.9, 0.95] };
  // m̂ = g and v̂ = g², so each weight moves by the rate
  assert.deepEqual(stepWith(state, { w: [0.5, -1] }, rule), { gradientNorm: Math.sqrt(1.25), skipped: 0 });
  near(values(state).w!, [0.9, -1.9], 1e-6);
  // m = 0.9 · 0.05 − 0.1 · 0.5 = −0.005, m̂ = −0.005 / 0.19; v = 0.024375, v̂ = v / 0.0975 = 0.25; 0.1 m̂ / 0.5
  stepWith(state, { w: [-0.5, -1] }, rule);
  near(values(state).w!, [0.9 + 0.1 * (0.005 / 0.19 / 0.5), -1.8], 1e-6);
  assert.deepEqual([state.steps, state.version, state.gradients.size], [2, 2, 0]);
});

test("step with plain descent moves by rate times gradient and keeps no moments", () => {
  const state = stateOf({ w: [1, -2] });
  stepWith(state, { w: [3, 4] }, { optimiser: "sgd", learningRate: 0.5 });
  assert.deepEqual(values(state), { w: [-0.5, -4] });
  assert.deepEqual([state.first, state.steps, state.version], [undefined, 0, 1]);
});

test("step clips the norm of the whole gradient and reports it as it was", () => {
  const state = stateOf({ a: [0], b: [0] });
  const rule: StepRule = { optimiser: "sgd", learningRate: 1, clip: 1 };
  assert.equal(stepWith(state, { a: [3], b: [4] }, rule).gradientNorm, 5);
  near([values(state).a![0]!, values(state).b![0]!], [-0.6, -0.8], 1e-6);
  stepWith(state, { a: [0.25], b: [0] }, rule);
  near(values(state).a!, [-0.85], 1e-6, "a small gradient stays as it is");
});

test("step decays neither norms nor embeddings and gives groups their own rate", () => {
  for (const optimiser of ["adamw", "sgd"] as const) {
    const state = stateOf({ "a.norm": [1], "b.embed_tokens": [1], "c.mlp": [1], "d.self_attn": [1] });
    const zero = { "a.norm": [0], "b.embed_tokens": [0], "c.mlp": [0], "d.self_attn": [0] };
    const rule: StepRule = {
      optimiser,
      learningRate: 0.5,
      weightDecay: 0.5,
      groups: { attn: { learningRate: 1 } },
    };
    stepWith(state, zero, rule);
    assert.deepEqual(values(state), {
      "a.norm": [1],
      "b.embed_tokens": [1],
      "c.mlp": [0.75],
      "d.self_attn": [0.5],
    });
  }
});

test("step skips a gradient that is not finite, says so and forgets it", () => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const state = stateOf({ w: [1, 2] });
    const { gradientNorm, skipped } = stepWith(state, { w: [bad, 0] }, { learningRate: 0.1 });
    assert.ok(!Number.isFinite(gradientNorm));
    assert.equal(skipped, 1);
    assert.deepEqual([values(state).w, state.steps, state.version, state.gradients.size], [[1, 2], 0, 0, 0]);
  }
});

const batch = randomBatch([12, 7, 9], "step");
const [one, two] = [coefficientsFor(batch, "one"), coefficientsFor(batch, "two")];
const rows = rowsOf([[4, 9, 5, 11, 12, 13]]);
const scoreOf = async (model: Pick<Model, "score">): Promise<number[]> => [...(await model.score(rows)).logp];
const add = (model: Model, c: Linear, into?: string) => model.accumulate(batch, linear(c), null, into);

test("step changes the version and the scores; a skipped step and one without gradient do not", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const before = await scoreOf(model);
  assert.deepEqual(await model.step({ learningRate: 1 }), { gradientNorm: 0, skipped: 1 });
  const nan: Linear = { logp: one.logp.map(() => Number.NaN) };
  await add(model, nan);
  assert.equal((await model.step({ learningRate: 1 })).skipped, 1);
  assert.equal(model.version, "0");
  assert.deepEqual(await scoreOf(model), before);
  await add(model, one);
  assert.equal((await model.step({ learningRate: 1e-2 })).skipped, 0);
  assert.equal(model.version, "1");
  assert.notDeepEqual(await scoreOf(model), before);
  const [sample] = await model.sample([{ prompt: Int32Array.of(4, 9, 5), maxTokens: 2, seed: 1 }]);
  assert.equal(sample!.version, "1");
});

test("rows whose cotangents are all zero add nothing, and are a gradient of zero", async () => {
  await using engine = bench();
  const [{ model }, { model: other }] = [await engine.make({ layers: 1 }), await engine.make({ layers: 1 })];
  const zero: Linear = { logp: one.logp.map(() => 0) };
  await add(model, zero);
  await add(model, one);
  await add(model, zero);
  await add(other, one);
  const stats = await model.step({ learningRate: 0.1 });
  assert.deepEqual(stats, await other.step({ learningRate: 0.1 }));
  assert.deepEqual(await scoreOf(model), await scoreOf(other));
  // a step from it is a step: AdamW's moments go on
  const before = await scoreOf(model);
  await add(model, zero);
  assert.deepEqual(await model.step({ learningRate: 0.1 }), { gradientNorm: 0, skipped: 0 });
  assert.notDeepEqual(await scoreOf(model), before);
  assert.equal(model.version, "2");
});

test("a frozen model stays as it was, samples as it was, and blends towards the model", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const request = { prompt: Int32Array.of(4, 9, 5), maxTokens: 8, seed: 3 };
  const frozen = await model.freeze();
  const before = await scoreOf(model);
  const said = bitsOf((await model.sample([request]))[0]!);
  await add(model, one);
  await model.step({ learningRate: 0.1 });
  assert.deepEqual(await scoreOf(frozen), before);
  assert.equal(bitsOf((await frozen.sample([request]))[0]!), said);
  assert.equal(frozen.version, "0");

  const weights = async (handle: number): Promise<Weights> =>
    (await engine.host.call("contents", handle)).weights;
  const [now, old] = [await weights(1), await weights(2)];
  await frozen.blend(model, 0.25);
  for (const [name, xs] of await weights(2)) {
    near(
      xs,
      xs.map((_, i) => 0.75 * old.get(name)![i]! + 0.25 * now.get(name)![i]!),
      1e-6,
      name,
    );
  }
  assert.notEqual(frozen.version, "0");
  assert.equal((await frozen.sample([request]))[0]!.version, frozen.version);
  await frozen.blend(model, 1);
  assert.deepEqual(await scoreOf(frozen), await scoreOf(model));
});

test("step pulls towards a frozen model after the step itself", async () => {
  await using engine = bench();
  const { model, weights } = await engine.make({ layers: 1 });
  const frozen = await model.freeze();
  await add(model, one);
  await model.step({ optimiser: "sgd", learningRate: 0.01 });
  const plain = (await engine.host.call("contents", 1)).weights;
  const { model: other } = await engine.make({ layers: 1 });
  await add(other, one);
  await other.step({ optimiser: "sgd", learningRate: 0.01, pull: { toward: frozen, strength: 20 } });
  const pulled = (await engine.host.call("contents", 3)).weights;
  for (const [name, xs] of pulled) {
    // 0.01 · 20 of the way back
    near(
      xs,
      xs.map((_, i) => 0.8 * plain.get(name)![i]! + 0.2 * weights.get(name)![i]!),
      1e-5,
      name,
    );
  }
});

test("fork goes its own way, with the optimiser's state or without", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const train = async (m: Model, c: Linear): Promise<number[]> => {
    await add(m, c);
    await m.step({ learningRate: 0.05 });
    return scoreOf(m);
  };
  await train(model, one);
  const [copy, fresh] = [await model.fork("copy"), await model.fork("fresh")];
  assert.deepEqual(await scoreOf(copy), await scoreOf(model));
  assert.deepEqual(await scoreOf(fresh), await scoreOf(model));
  const after = await train(model, two);
  assert.notDeepEqual(await scoreOf(copy), after, "the fork did not move with the model");
  assert.deepEqual(await train(copy, two), after);
  assert.notDeepEqual(await train(fresh, two), after);
});

test("gradients.dot is the product of two buffers and combine makes the one that step uses", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const { dot, combine } = model.gradients!;
  const before = (await engine.host.call("contents", 1)).weights;
  await add(model, one, "a");
  await add(model, two, "b");
  const [aa, ab, bb] = [await dot("a", "a"), await dot("a", "b"), await dot("b", "b")];
  assert.equal(await dot("b", "a"), ab);
  assert.equal(await dot("a", "nothing"), 0);
  assert.ok(aa > 0 && bb > 0 && ab ** 2 < aa * bb);
  // b without its part along a
  await combine({ a: -ab / aa, b: 1 });
  assert.ok(Math.abs(await dot(mainGradient, "a")) < 1e-4 * Math.sqrt(aa * bb));
  const { gradientNorm } = await model.step({ optimiser: "sgd", learningRate: 1 });
  near([gradientNorm! ** 2], [bb - ab ** 2 / aa], 1e-3 * bb);
  assert.equal(await dot("a", "a"), 0, "buffers are empty after a step");

  let moved = 0;
  for (const [name, xs] of (await engine.host.call("contents", 1)).weights) {
    xs.forEach((x, i) => {
      moved += (x - before.get(name)![i]!) ** 2;
    });
  }
  near([Math.sqrt(moved)], [gradientNorm!], 1e-3);
});

test("accumulate adds up over calls, and two models of one engine may accumulate at once", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const { model: second } = await engine.make({ layers: 1 }, { seed: 2 });
  await Promise.all([
    add(model, one, "a"),
    add(second, one, "a"),
    add(model, one, "a"),
    add(second, two, "a"),
  ]);
  await add(model, one, "b");
  const { dot } = model.gradients!;
  near([await dot("a", "a")], [4 * (await dot("b", "b"))], 1e-3 * (await dot("a", "a")));
});

test("step waits for an accumulate that was asked for before it", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const adding = add(model, one);
  const stepping = model.step({ learningRate: 0.01 });
  const freezing = model.freeze();
  await adding;
  assert.equal((await stepping).skipped, 0);
  assert.equal((await freezing).version, "1");
  assert.deepEqual(await scoreOf(await freezing), await scoreOf(model));
});

test("accumulate reports how far scores lie from what was sampled, of its own rows alone", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const [sample] = await model.sample([{ prompt: Int32Array.of(4, 9, 5), maxTokens: 8, seed: 5 }]);
  const n = sample!.action.length;
  const shell = randomBatch([n + 3], "gap");
  const target = Int32Array.from({ length: n }, (_, i) => i + 3);
  const own = {
    ...shell,
    tokens_N: Int32Array.of(4, 9, 5, ...sample!.action),
    target_A: target,
    targetOffset: Int32Array.of(0, n),
    index_A: target.map((_, i) => i),
    turn_A: new Int32Array(n),
    logp_A: sample!.logp,
    behaviour_A: sample!.behaviour,
    advantage_A: new Float32Array(n),
    weight_A: new Float32Array(n),
  };
  const gapOf = async (more: object, logp_A = sample!.logp, of: Model = model): Promise<number> => {
    const info = { ...shell.rows[0]!, version: model.version, ...more };
    const logp = new Float32Array(n);
    return (await of.accumulate({ ...own, logp_A, rows: [info] }, linear({ logp }), null))["logpGap.max"]!;
  };
  const gap = await gapOf({});
  assert.ok(gap > 0 && gap < 1e-4, `${gap}`);
  // a fork with a name of its own may have the same version, and has sampled nothing
  const [same, named] = [await model.fork("fresh"), await model.fork("fresh", "rewards")];
  assert.deepEqual([same.id, named.id, named.version], [model.id, "rewards", model.version]);
  assert.equal(await gapOf({}, sample!.logp, same), gap);
  assert.equal(await gapOf({}, sample!.logp, named), 0);
  // one NaN among them is no small gap, wherever it stands
  for (const at of [0, n - 1]) {
    const holed = sample!.logp.map((x, i) => (i === at ? Number.NaN : x));
    assert.ok(Number.isNaN(await gapOf({}, holed)));
  }
  for (const other of [
    { version: "9" },
    { model: "teacher" },
    { origin: "replayed" },
    { context: "rewritten" },
  ]) {
    assert.equal(await gapOf(other), 0);
  }
});

test("blend and pull refuse a model of another engine", async () => {
  await using engine = bench();
  await using elsewhere = bench();
  const { model } = await engine.make({ layers: 1 });
  const { model: foreign } = await elsewhere.make({ layers: 1 });
  const frozen = await model.freeze();
  const refused = failsWith("capability.missing", /another engine/);
  await assert.rejects(frozen.blend(foreign, 0.5), refused);
  await add(foreign, one);
  await assert.rejects(foreign.step({ learningRate: 1, pull: { toward: frozen, strength: 1 } }), refused);
});
