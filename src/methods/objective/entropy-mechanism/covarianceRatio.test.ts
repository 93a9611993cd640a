import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import type { Batch } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { covarianceRatio, type Remedy, tokenCovariance } from "./covarianceRatio.ts";

/** A model of which only the log-probabilities are asked. */
const scoring = (logp_A: ArrayLike<number>): Partial<Ctx> => {
  const model: Pick<Model, "score" | "version"> = {
    version: "0",
    score: async () => ({ logp: Float32Array.from(logp_A), heads: {} }),
  };
  return { model: () => model as Model, random: randomStream(1) };
};
const atOld = (batch: Batch): Partial<Ctx> => scoring(batch.behaviour_A);

const kl: Remedy = { kind: "kl", share: 0.3, coefficient: 0.7 };
const clip: Remedy = { kind: "clip", share: 0.3, from: 0.05, to: 5 };
for (const normaliser of ["tokens", "rows", { constant: 8 }] as const) {
  for (const remedy of [kl, clip]) {
    const name = `covarianceRatio ${remedy.kind} ${JSON.stringify(normaliser)}`;
    agrees(name, covarianceRatio({ remedy, normaliser }), undefined, atOld);
  }
}

test("tokenCovariance is worked by hand, and its mean is the covariance", () => {
  // A = 1, 1, −2 (mean 0), logp = −1, −3, −2 (mean −2): 1 · 1, 1 · −1, −2 · 0
  assert.deepEqual([...tokenCovariance([1, 1, -2], [-1, -3, -2])], [1, -1, -0]);
  // the last does not count: A = 1, 3 (mean 2), logp = −1, −3 (mean −2)
  const part = tokenCovariance([1, 3, 9], [-1, -3, -9], (a) => a < 2);
  assert.deepEqual([...part], [-1, -1, Number.NaN]);
});

const specs = [
  { behaviour: [-1, -3], advantage: [2, 2] },
  { behaviour: [-1, -3], advantage: [-2, -2] },
];

async function run(remedy: Remedy, now: readonly number[], context: Partial<Ctx>) {
  const batch = batchOfRows(specs);
  const objective = covarianceRatio({ remedy, clip: Number.POSITIVE_INFINITY });
  const aux = await objective.prepare(ctxOf(context), batch);
  return objective.evaluate({ logp: Float32Array.from(now), heads: {} }, batch, aux);
}

test("KL-Cov: the tokens of largest covariance pay for how far they moved", async () => {
  // mean A = 0, mean logp = −2: c = 2, −2, −2, 2. A quarter of four tokens is one; of equals the first.
  const remedy: Remedy = { kind: "kl", share: 0.25, coefficient: 4 };
  const still = await run(remedy, [-1, -3, -1, -3], scoring([-1, -3, -1, -3]));
  assert.equal(still.stats.chosen, 1);
  // not moved: Σ A / 4 = 0, and the penalty has no slope
  assert.equal(still.loss, 0);
  assert.deepEqual([...still.cotangents.logp!], [-0.5, -0.5, 0.5, 0.5]);
  // the first has moved by ln 2: its ratio is 2, the penalty 4 · ln 2 / 4, both slopes over four tokens
  const moved = await run(remedy, [-1 + Math.LN2, -3, -1, -3], scoring([-1, -3, -1, -3]));
  assert.ok(Math.abs(moved.loss - (-(2 * 2 + 2 - 2 - 2) / 4 + Math.LN2)) < 1e-6);
  assert.ok(Math.abs(moved.cotangents.logp![0]! - (-(2 * 2) / 4 + 1)) < 1e-6);
});

test("Clip-Cov: drawn tokens of the range have no loss, the others keep theirs", async () => {
  const remedy: Remedy = { kind: "clip", share: 0.5, from: 1, to: 5 };
  const { cotangents, stats } = await run(remedy, [-1, -3, -1, -3], scoring([-1, -3, -1, -3]));
  // c = 2 at the first and the last token: both fit into half of four
  assert.equal(stats.chosen, 2);
  assert.deepEqual([...cotangents.logp!].map(Math.abs), [0, 0.5, 0.5, 0]);
  // nobody in the range: nothing is left out
  const none = await run({ ...remedy, from: 3 }, [-1, -3, -1, -3], scoring([-1, -3, -1, -3]));
  assert.equal(none.stats.chosen, 0);
});

test("Clip-Cov draws none that the ratio's clip has stopped already", async () => {
  const batch = batchOfRows(specs);
  const objective = covarianceRatio({ remedy: { kind: "clip", share: 1, from: 0.1, to: 9 }, clip: 0.2 });
  // the first token's ratio is e^0.5 > 1.2 with A > 0, the last one's e^−0.5 < 0.8 with A < 0
  const now = [-0.5, -3, -1, -3.5];
  const aux = await objective.prepare(ctxOf(scoring(now)), batch);
  const { stats } = objective.evaluate({ logp: Float32Array.from(now), heads: {} }, batch, aux);
  assert.equal(stats.chosen, 0);
});

test("where all advantages are equal nothing is chosen, and the loss is that of the ratio alone", async () => {
  const batch = batchOfRows([{ behaviour: [-1, -2, -3], advantage: [1, 1, 1] }]);
  const objective = covarianceRatio({ remedy: kl });
  const outputs = { logp: Float32Array.of(-1.1, -1.9, -3), heads: {} };
  const made = objective.evaluate(
    outputs,
    batch,
    await objective.prepare(ctxOf(scoring([-1, -2, -3])), batch),
  );
  const plain = clippedRatio();
  assert.equal(made.loss, plain.evaluate(outputs, batch, await plain.prepare(ctxOf({}), batch)).loss);
  assert.equal(made.stats.chosen, 0);
});
