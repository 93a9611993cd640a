import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { adamwStep } from "../../../src/common/statistics/adamw.ts";
import { actionRows } from "../../../src/common/tokens/pack.ts";
import type { Batch } from "../../../src/core/batch.ts";
import type { Model } from "../../../src/core/model.ts";
import type { Objective } from "../../../src/core/objective.ts";
import type { Cotangents, Outputs, Wanted } from "../../../src/core/outputs.ts";
import { randomStream } from "../../../src/core/random.ts";
import { vocabularyCodec } from "../../../src/engine/tabular/codec.ts";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { type TabularModel, tabularModel } from "../../../src/engine/tabular/model.ts";
import { newWeights } from "../../../src/engine/tabular/weights.ts";
import { batchOfRows, trajectoryOf, turnOf } from "../../core/make.ts";

const codec = vocabularyCodec(["a b c", "say"]);
const fresh = (context = Number.POSITIVE_INFINITY): TabularModel =>
  tabularModel("policy", newWeights(codec, context), 32);
const ids = (text: string): number[] => [...codec.encode(text)];
const prompt = codec.open([{ role: "user", content: "say" }]);
const end = codec.endId;

/** An objective that is linear in what it is shown. */
function linear(wanted: Wanted, cotangents: Cotangents): Objective<null> {
  return {
    name: "linear",
    together: "row",
    wants: () => wanted,
    prepare: async () => null,
    evaluate: () => ({ loss: 0, cotangents, stats: {} }),
  };
}

/** Loss of {@link linear}. */
function dotOutputs(o: Outputs, c: Cotangents): number {
  const dot = (x?: Float32Array, y?: Float32Array): number =>
    x && y ? x.reduce((s, v, i) => s + v * y[i]!, 0) : 0;
  return dot(o.logp, c.logp) + dot(o.entropy, c.entropy) + dot(o.at, c.at) + dot(o.topk?.logp, c.topk);
}

const actionBatch = (): Batch => {
  const rows = actionRows(trajectoryOf("t", [turnOf([...prompt], [...ids("a b"), end])]));
  const shell = batchOfRows([{ behaviour: [0, 0, 0], advantage: [0, 0, 0] }]);
  return { ...shell, ...rows };
};

/** A model whose table holds some numbers that are not zero. */
async function warmed(): Promise<TabularModel> {
  const model = fresh(2);
  const batch = actionBatch();
  for (let k = 0; k < 3; k++) {
    await model.accumulate(batch, linear({}, { logp: Float32Array.of(-1, -0.5, 0.7) }), null);
    await model.step({ learningRate: 0.5, optimiser: "sgd" });
  }
  // no two logits near each other
  const random = randomStream("warm");
  const weights = model.weights.part("logits").array("weights");
  weights.forEach((w, i) => {
    weights[i] = w + random.split(i).normal();
  });
  model.weights.changed();
  return model;
}

test("tabular codec gives texts back and keeps one growing sequence", () => {
  assert.equal(codec.decode(codec.encode("a b c a")), "a b c a");
  assert.throws(() => codec.encode("zebra"), /the word "zebra".*List every word/);
  const messages = [{ role: "user", content: "say" }] as const;
  const reply = Int32Array.of(...ids("a"), end);
  const whole = codec.open([
    ...messages,
    { role: "assistant", content: "a" },
    { role: "user", content: "b" },
  ]);
  const grown = [...codec.open(messages), ...reply, ...codec.extend("eos", [{ role: "user", content: "b" }])];
  assert.deepEqual(grown, [...whole]);
  const cut = [
    ...codec.open(messages),
    ...ids("a"),
    ...codec.extend("length", [{ role: "user", content: "b" }]),
  ];
  assert.deepEqual(cut, [...whole]);
});

test("tabular sampling is seeded, the same alone and in company, and scored as it was drawn", async () => {
  const model = await warmed();
  const request = (seed: number) => ({ prompt, maxTokens: 5, seed });
  const [alone] = await model.sample([request(4)]);
  const [, company] = await model.sample([request(9), request(4)]);
  assert.deepEqual(company, alone);
  const t = trajectoryOf("t", [turnOf([...prompt], [...alone!.action])]);
  const { logp, entropy } = await model.score(actionRows(t), { entropy: true });
  assert.deepEqual([...logp], [...alone!.logp]);
  assert.deepEqual([...entropy!], [...alone!.entropy!]);
  assert.deepEqual([...alone!.behaviour], [...alone!.logp]);
});

test("tabular sampling obeys temperature, top k, top p, allowed ids and stop strings", async () => {
  const model = await warmed();
  const many = (more: object) =>
    model.sample(Array.from({ length: 60 }, (_, seed) => ({ prompt, maxTokens: 3, seed, ...more })));
  const firsts = async (more: object): Promise<number> =>
    new Set((await many(more)).map((s) => s.action[0])).size;
  assert.equal(await firsts({ temperature: 0 }), 1);
  assert.equal(await firsts({ topK: 2 }), 2);
  assert.equal(await firsts({ topP: 0.01 }), 1);
  assert.ok((await firsts({})) > 2);
  const allowed = [Int32Array.of(...ids("c"))];
  for (const s of await many({ allowed })) {
    assert.equal(s.action[0], ids("c")[0]);
    assert.equal(s.behaviour[0], 0);
    assert.ok(s.logp[0]! < 0);
  }
  for (const s of await many({ stop: ["a"] }))
    assert.ok(s.stop !== "stop" || codec.decode(s.action).includes("a"));
  const [greedy] = await many({ temperature: 0 });
  assert.equal(greedy!.behaviour[0], 0);
});

test("tabular gradients of every output agree with finite differences", async () => {
  const batch = actionBatch();
  const at = { ids: Int32Array.of(end, ids("a")[0]!, ids("b")[0]!, ids("c")[0]!, end, end), width: 2 };
  const cases: { wanted: Wanted; cotangents: Cotangents }[] = [
    { wanted: {}, cotangents: { logp: Float32Array.of(0.3, -1, 0.5) } },
    { wanted: { entropy: true }, cotangents: { entropy: Float32Array.of(1, -0.4, 0.2) } },
    { wanted: { at }, cotangents: { at: Float32Array.of(0.1, 0.2, -0.3, 0.4, 0.5, -0.6) } },
    { wanted: { topk: 2 }, cotangents: { topk: Float32Array.of(0.1, 0.2, -0.3, 0.4, 0.5, -0.6) } },
  ];
  for (const { wanted, cotangents } of cases) {
    const model = await warmed();
    await model.accumulate(batch, linear(wanted, cotangents), null);
    const table = model.weights.part("logits");
    const h = 2 ** -7; // outputs are float32
    for (const [context, gradient] of model.gradientByContext()) {
      for (let w = 0; w < gradient.length; w++) {
        const i = table.rows.get(context)! * table.width + w;
        const before = table.array("weights")[i]!;
        const loss = async (d: number): Promise<number> => {
          table.array("weights")[i] = before + d;
          model.weights.changed();
          return dotOutputs(await model.score(batch, wanted), cotangents);
        };
        const slope = ((await loss(h)) - (await loss(-h))) / (2 * h);
        await loss(0);
        assert.ok(
          Math.abs(slope - gradient[w]!) < 1e-4,
          `${context}[${w}] ${gradient[w]}, expected ${slope}`,
        );
      }
    }
  }
});

test("tabular steps: descent, AdamW as in core, clipping, decay, and heads", async () => {
  const batch = actionBatch();
  const push = linear({ heads: ["value"] }, { heads: { value: Float32Array.of(1, 0, 0) } });
  const value = async (model: Model): Promise<number> =>
    (await model.score(batch, { heads: ["value"] })).heads.value![0]!;
  const plain = fresh();
  await plain.accumulate(batch, push, null);
  const { gradientNorm } = await plain.step({ learningRate: 0.25, optimiser: "sgd", clip: 0.5 });
  assert.equal(gradientNorm, 1);
  assert.equal(await value(plain), -0.125);
  const adam = fresh();
  for (let k = 0; k < 2; k++) {
    await adam.accumulate(batch, push, null);
    await adam.step({ learningRate: 0.25, weightDecay: 0.1 });
  }
  const [w, m, v] = [new Float64Array(1), new Float64Array(1), new Float64Array(1)];
  const rule = { learningRate: 0.25, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.1 };
  for (let step = 1; step <= 2; step++) adamwStep(w, Float64Array.of(1), m, v, { ...rule, step });
  assert.equal(await value(adam), Math.fround(w[0]!));
});

test("adamwStep is worked by hand for its first step", () => {
  // m̂ = g, v̂ = g²: the step is the learning rate in the direction of the gradient
  const w = Float64Array.of(1, 1);
  const rule = { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 0, weightDecay: 0.5, step: 1 };
  adamwStep(w, Float64Array.of(3, -0.01), new Float64Array(2), new Float64Array(2), rule);
  assert.ok(Math.abs(w[0]! - (0.95 - 0.1)) < 1e-12);
  assert.ok(Math.abs(w[1]! - (0.95 + 0.1)) < 1e-12);
});

test("tabular gradient buffers: dot and combine, and a step forgets them all", async () => {
  const model = fresh();
  const batch = actionBatch();
  await model.accumulate(batch, linear({}, { logp: Float32Array.of(1, 0, 0) }), null, "f");
  await model.accumulate(batch, linear({}, { logp: Float32Array.of(2, 0, 0) }), null, "r");
  const ff = await model.gradients.dot("f", "f");
  assert.ok(ff > 0);
  assert.ok(Math.abs((await model.gradients.dot("f", "r")) - 2 * ff) < 1e-12);
  await model.gradients.combine({ r: 1, f: -2 });
  assert.equal((await model.step({ learningRate: 1 })).gradientNorm, 0);
  assert.equal(await model.gradients.dot("f", "f"), 0);
});

test("tabular save and open give the same model, and the same future", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tabular-"));
  const model = await warmed();
  const batch = actionBatch();
  const go = async (m: Model): Promise<number[]> => {
    await m.accumulate(batch, linear({}, { logp: Float32Array.of(1, 1, 1) }), null);
    await m.step({ learningRate: 0.1 });
    return [...(await m.score(batch)).logp];
  };
  await go(model);
  await model.save(folder);
  const engine = tabularEngine();
  const opened = await engine.open("policy", folder);
  assert.equal(opened.version, model.version);
  const copy = await model.fork("copy");
  const frozen = await model.freeze();
  const before = [...(await model.score(batch)).logp];
  const future = await go(model);
  assert.deepEqual(await go(opened), future);
  assert.deepEqual(await go(copy), future);
  assert.deepEqual([...(await frozen.score(batch)).logp], before);
  const kept = mkdtempSync(join(tmpdir(), "tabular-"));
  await frozen.save(kept);
  assert.deepEqual([...(await (await engine.open("frozen", kept)).score(batch)).logp], before);
  await frozen.blend(model, 1);
  assert.deepEqual([...(await frozen.score(batch)).logp], future);
  await assert.rejects(engine.open("policy", join(folder, "nowhere")), /Resume from an earlier checkpoint/);
});

test("a pull of full strength brings the weights back to the frozen model", async () => {
  const model = await warmed();
  const anchor = await model.freeze();
  const batch = actionBatch();
  const before = [...(await model.score(batch)).logp];
  await model.accumulate(batch, linear({}, { logp: Float32Array.of(5, 5, 5) }), null);
  await model.step({ learningRate: 0.5, optimiser: "sgd", pull: { toward: anchor, strength: 2 } });
  assert.deepEqual([...(await model.score(batch)).logp], before);
});

test("tabular refuses what a table has not", async () => {
  await assert.rejects(fresh().score(actionBatch(), { hidden: [0] }), /capability|hidden states/);
});
