import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../../src/core/batch.ts";
import { togetherGroups } from "../../../src/core/pack.ts";
import { pad, planMicroBatches } from "../../../src/engine/local/micro-batches.ts";
import { batchOf, bench, coefficientsFor, linear, near, randomBatch } from "./support.ts";

const each = (batch: Batch) => togetherGroups(batch, "row");

test("planMicroBatches takes every row once, like lengths together, within the limit with padding", () => {
  const lengths = Array.from({ length: 90 }, (_, i) => 2 + ((i * 37) % 120));
  const batch = randomBatch(lengths, "plan");
  for (const limit of [1024, 2048, 8192]) {
    const plan = planMicroBatches(batch, each(batch), limit);
    assert.deepEqual(
      plan.flat().sort((a, b) => a - b),
      lengths.map((_, r) => r),
    );
    for (const rows of plan) {
      const { B, T } = pad(
        randomBatch(
          rows.map((r) => lengths[r]!),
          "part",
        ),
        0,
      );
      assert.ok(B * T <= limit, `${rows.length} rows are padded to ${B} × ${T} > ${limit}`);
    }
  }
});

test("planMicroBatches keeps groups whole, even one that is larger than the limit", () => {
  const batch = randomBatch([10, 50, 12, 9, 60, 11], "groups", (r) => `g${r % 2}`);
  const plan = planMicroBatches(batch, togetherGroups(batch, "group"), 64);
  assert.deepEqual(
    plan.map((rows) => rows.toSorted()),
    [
      [0, 2, 4],
      [1, 3, 5],
    ],
  );
  assert.deepEqual(planMicroBatches(batch, togetherGroups(batch, "batch"), 64), [[0, 1, 2, 3, 4, 5]]);
  assert.deepEqual(planMicroBatches(batch, [], 64), []);
});

test("pad puts tokens, contexts and targets where the rows had them", () => {
  const batch = batchOf([
    { tokens: [5, 6, 7], targets: [1, 2] },
    { tokens: [8, 9], targets: [1] },
  ]);
  const { B, T, A, tokens, context, targets } = pad(batch, 3);
  assert.deepEqual([B, T], [8, 16]);
  assert.ok(A >= 3);
  assert.deepEqual([...tokens.subarray(0, 4)], [5, 6, 7, 3]);
  assert.deepEqual([...tokens.subarray(16, 19)], [8, 9, 3]);
  assert.ok(tokens.subarray(18).every((id) => id === 3));
  // a target is predicted one place before it
  assert.deepEqual([...context.subarray(0, 3)], [0, 1, 16]);
  assert.deepEqual([...targets.subarray(0, 3)], [6, 7, 9]);
});

test("pad has room for a target at every place but the first", () => {
  const full = batchOf(
    Array.from({ length: 8 }, () => ({
      tokens: Array.from({ length: 16 }, (_, i) => i),
      targets: Array.from({ length: 15 }, (_, i) => i + 1),
    })),
  );
  assert.ok(pad(full, 0).A >= 8 * 15);
});

test("accumulate in many micro-batches gives the gradient of one", async () => {
  await using engine = bench();
  const batch = randomBatch([40, 3, 18, 25, 9, 33, 60, 14, 5, 21], "split", (r) => `g${r >> 1}`);
  const coefficients = coefficientsFor(batch, "split");
  const after: Float32Array[][] = [];
  for (const [handle, microBatchTokens] of [4096, 64].entries()) {
    const { model } = await engine.make({}, { microBatchTokens });
    let parts = 0;
    const stats = await model.accumulate(
      batch,
      linear(coefficients, "row", () => parts++),
      null,
    );
    assert.ok(microBatchTokens === 4096 ? parts <= 3 : parts === 10, `${parts} parts`);
    assert.equal(stats.seen, batch.target_A.length);
    assert.equal(stats.targets, batch.target_A.length);
    await model.step({ learningRate: 1, optimiser: "sgd" });
    after.push([...(await engine.host.call("contents", handle + 1)).weights.values()]);
  }
  after[0]!.forEach((xs, i) => {
    near(xs, after[1]![i]!, 1e-5 * Math.max(1, ...xs.map(Math.abs)));
  });
});

test('accumulate never splits a group or a batch that an objective wants "together"', async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 }, { microBatchTokens: 32 });
  const batch = randomBatch([9, 20, 9, 30, 12, 7], "whole", (r) => `g${r % 3}`);
  const coefficients = coefficientsFor(batch, "whole", false);
  for (const [together, count] of [
    ["row", 6],
    ["group", 3],
    ["batch", 1],
  ] as const) {
    const seen: string[][] = [];
    await model.accumulate(
      batch,
      linear(coefficients, together, (part) => seen.push(part.rows.map((row) => row.group))),
      null,
    );
    assert.equal(seen.length, count, together);
    if (together === "group") for (const groups of seen) assert.equal(new Set(groups).size, 1);
    assert.equal(seen.flat().length, 6);
  }
});

test("accumulate does not see what rows are padded with, nor other rows", async () => {
  await using engine = bench();
  const { model } = await engine.make();
  const alone = randomBatch([11], "alone");
  const more = randomBatch([11, 50, 29], "alone");
  const n = alone.target_A.length;
  const [a, b] = [await model.score(alone, { entropy: true }), await model.score(more, { entropy: true })];
  near(b.logp.subarray(0, n), a.logp, 1e-5);
  near(b.entropy!.subarray(0, n), a.entropy!, 1e-5);

  // cotangents for the first row alone give the first row's gradient
  const first = coefficientsFor(alone, "first");
  const spread = (xs: Float32Array): Float32Array => {
    const out = new Float32Array(more.target_A.length);
    out.set(xs);
    return out;
  };
  await model.accumulate(alone, linear(first), null, "alone");
  const within = { logp: spread(first.logp), entropy: spread(first.entropy!) };
  await model.accumulate(more, linear(within), null, "more");
  const { dot } = model.gradients!;
  const [aa, am, mm] = [await dot("alone", "alone"), await dot("alone", "more"), await dot("more", "more")];
  // |a − m|² = aa − 2 am + mm
  assert.ok(Math.abs(aa - 2 * am + mm) < 1e-6 * aa, `${aa} ${am} ${mm}`);
});
