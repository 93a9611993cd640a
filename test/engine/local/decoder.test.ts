// The decoder and its gradients against a plain float64 decoder.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../../src/core/batch.ts";
import { randomStream } from "../../../src/core/random.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import type { Weights } from "../../../src/engine/local/parameters.ts";
import { type Numbers, referenceScore } from "./reference.ts";
import { bench, coefficientsFor, type Linear, linear, near, randomBatch } from "./support.ts";

const shapes: Readonly<Record<string, Partial<DecoderConfig>>> = {
  "grouped queries, tied": {},
  "grouped queries, untied": { tied: false },
  "one key head for all": { kvHeads: 1, layers: 1 },
  "a key head each, wide heads": { heads: 2, kvHeads: 2, headWidth: 12, layers: 1, ropeTheta: 100 },
};

for (const [name, shape] of Object.entries(shapes)) {
  test(`score says what a float64 decoder says (${name})`, async () => {
    await using engine = bench();
    const { model, weights, config } = await engine.make(shape);
    const rows = randomBatch([2, 30, 9, 17, 40], "score");
    const out = await model.score(rows, { entropy: true });
    const want = referenceScore(config, weights, rows);
    near(out.logp, want.logp, 1e-4, "logp");
    near(out.entropy!, want.entropy, 1e-4, "entropy");
    assert.ok(
      Math.max(...want.entropy) < Math.log(config.vocabulary) - 0.1,
      "weights too tame to show faults",
    );
  });
}

/** The linear loss as the float64 decoder has it. */
function loss(config: DecoderConfig, weights: Numbers, batch: Batch, c: Linear): number {
  const out = referenceScore(config, weights, batch);
  const sum = (xs: readonly number[], by?: Float32Array) =>
    by ? xs.reduce((s, x, a) => s + x * by[a]!, 0) : 0;
  return sum(out.logp, c.logp) + sum(out.entropy, c.entropy);
}

async function checkGradients(shape: Partial<DecoderConfig>, part: "logp" | "entropy" | "both") {
  await using engine = bench();
  const { model, weights, config } = await engine.make(shape);
  const batch = randomBatch([7, 12, 4], "gradients");
  const both = coefficientsFor(batch, "cotangents");
  const zeros = new Float32Array(both.logp.length);
  const coefficients: Linear =
    part === "logp" ? { logp: both.logp } : part === "entropy" ? { ...both, logp: zeros } : both;
  await model.accumulate(batch, linear(coefficients), null);
  await model.step({ learningRate: 1, optimiser: "sgd" });
  const after = (await engine.host.call("contents", 1)).weights;
  const random = randomStream("entries");
  for (const [name, before] of weights) {
    const gradient = before.map((x, i) => x - after.get(name)![i]!);
    const scale = Math.sqrt(gradient.reduce((s, g) => s + g * g, 0) / gradient.length);
    assert.ok(scale > 0, `${name} has a gradient`);
    // the largest entry and some others
    const largest = gradient.reduce((best, g, i) => (Math.abs(g) > Math.abs(gradient[best]!) ? i : best), 0);
    for (const i of [largest, random.below(before.length), random.below(before.length)]) {
      const want = slope(config, weights, batch, coefficients, name, i);
      const tolerance = 1e-3 * Math.max(Math.abs(want), scale);
      near([gradient[i]!], [want], tolerance, `${name}[${i}]`);
    }
  }
}

/** Central difference in one entry. */
function slope(
  config: DecoderConfig,
  weights: Weights,
  batch: Batch,
  c: Linear,
  name: string,
  i: number,
): number {
  const step = 1e-4;
  const at = (by: number): number => {
    const moved = Float64Array.from(weights.get(name)!);
    moved[i] = moved[i]! + by;
    return loss(config, new Map<string, ArrayLike<number>>([...weights, [name, moved]]), batch, c);
  };
  return (at(step) - at(-step)) / (2 * step);
}

test("accumulate gives the gradient of log-probabilities", () => checkGradients({}, "logp"));
test("accumulate gives the gradient of entropies", () => checkGradients({ layers: 1 }, "entropy"));
test("accumulate gives the gradient of both, untied", () =>
  checkGradients({ tied: false, layers: 1 }, "both"));
test("accumulate gives the gradient of both, one key head", () => checkGradients({ kvHeads: 1 }, "both"));

test("what comes after a target does not reach it", async () => {
  await using engine = bench();
  const { model } = await engine.make();
  const long = randomBatch([20], "causal");
  const first = long.target_A.length - 3;
  const cut = long.target_A[first]! + 1;
  const short: typeof long = {
    ...long,
    tokens_N: long.tokens_N.slice(0, cut),
    rowOffset: Int32Array.of(0, cut),
    target_A: long.target_A.slice(0, first + 1),
    targetOffset: Int32Array.of(0, first + 1),
  };
  const [all, some] = [await model.score(long), await model.score(short)];
  near(some.logp, all.logp.slice(0, first + 1), 1e-6);
});
