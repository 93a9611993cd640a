import assert from "node:assert/strict";
import { test } from "node:test";
import { selectTokens, togetherGroups } from "../../../src/common/tokens/pack.ts";
import type { Batch } from "../../../src/core/batch.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import { packRows, placesFor, planMicroBatches } from "../../../src/engine/local/packing.ts";
import { batchOf, bench, coefficientsFor, linear, near, randomBatch, tinyConfig } from "./support.ts";

const each = (batch: Batch) => togetherGroups(batch, "row");

test("a plan takes every row once and keeps within the limit, padding included", () => {
  const lengths = Array.from({ length: 90 }, (_, i) => 2 + ((i * 37) % 120));
  const batch = randomBatch(lengths, "plan");
  for (const limit of [512, 1024, 8192]) {
    const plan = planMicroBatches(batch, each(batch), tinyConfig, limit);
    assert.deepEqual(
      plan.flatMap(({ rows }) => rows).sort((a, b) => a - b),
      lengths.map((_, r) => r),
    );
    let places = 0;
    for (const micro of plan) {
      const packed = packRows(selectTokens(batch, micro.rows), micro, 0);
      assert.ok(
        packed.B * packed.T <= limit,
        `${micro.rows.length} rows take ${packed.B} × ${packed.T} > ${limit}`,
      );
      places += packed.B * packed.T;
    }
    const tokens = lengths.reduce((a, b) => a + b);
    assert.ok(tokens / places > 0.9, `only ${tokens} of ${places} places hold tokens`);
  }
});

test("a plan keeps groups whole, even one that is larger than the limit", () => {
  const batch = randomBatch([10, 50, 12, 9, 60, 11], "groups", (r) => `g${r % 2}`);
  const sets = (plan: readonly { rows: readonly number[] }[]): number[][] =>
    plan.map(({ rows }) => rows.toSorted()).sort((a, b) => a[0]! - b[0]!);
  assert.deepEqual(sets(planMicroBatches(batch, togetherGroups(batch, "group"), tinyConfig, 64)), [
    [0, 2, 4],
    [1, 3, 5],
  ]);
  const whole = planMicroBatches(batch, togetherGroups(batch, "batch"), tinyConfig, 64);
  assert.deepEqual(sets(whole), [[0, 1, 2, 3, 4, 5]]);
  assert.deepEqual(planMicroBatches(batch, [], tinyConfig, 64), []);
});

test("rows that begin alike share that beginning, up to the token before their first target", () => {
  const batch = batchOf([
    { tokens: [5, 6, 7, 8], targets: [2, 3] },
    { tokens: [5, 6, 7, 9], targets: [2, 3] },
    { tokens: [3, 4], targets: [1] },
  ]);
  const { B, T, A, ...packed } = packRows(batch, { shared: [[0, 1, 0]], longest: 9 }, 2);
  assert.deepEqual([B, T], [1, 16]);
  // the 5 once; the 6 twice, since either row reads its first target there
  assert.deepEqual([...packed.tokens], [5, 6, 7, 8, 6, 7, 9, 3, 4, 2, 2, 2, 2, 2, 2, 2]);
  assert.deepEqual([...packed.position.subarray(0, 9)], [0, 1, 2, 3, 1, 2, 3, 0, 1]);
  // the 5 is seen up to the end of the second row, each other token up to the end of its own
  assert.deepEqual([...packed.end.subarray(0, 9)], [6, 3, 3, 3, 6, 6, 6, 8, 8]);
  assert.deepEqual([...packed.context.subarray(0, 5)], [1, 2, 4, 5, 7]);
  assert.deepEqual([...packed.targets.subarray(0, 5)], [7, 8, 7, 9, 4]);
  assert.deepEqual([...packed.back.subarray(0, 9)], [A, 0, 1, A, 2, 3, A, 4, A]);
});

test("there is room for a target at every place but the first of a row", () => {
  const rows = batchOf(
    Array.from({ length: 8 }, (_, r) => ({
      tokens: Array.from({ length: 16 }, (_, i) => (r + i) % 16),
      targets: Array.from({ length: 15 }, (_, i) => i + 1),
    })),
  );
  const [micro] = planMicroBatches(rows, each(rows), tinyConfig, 4096);
  assert.ok(packRows(selectTokens(rows, micro!.rows), micro!, 0).A >= 8 * 15);
});

test("rows with a common prompt get the gradient that they get one by one", async () => {
  await using engine = bench();
  const { model } = await engine.make();
  const prompt = [5, 9, 12, 4, 7, 11, 8];
  const rows = Array.from({ length: 6 }, (_, r) => ({
    tokens: [...(r < 4 ? prompt : prompt.slice(0, 4)), 4 + r, 6, 13 - r],
    targets: r < 4 ? [7, 8, 9] : [4, 5, 6],
  }));
  const whole = batchOf(rows);
  const coefficients = coefficientsFor(whole, "shared");
  const together = await model.score(whole, { entropy: true });
  await model.accumulate(whole, linear(coefficients), null, "together");
  for (const [r, row] of rows.entries()) {
    const alone = batchOf([row]);
    const of = (xs: Float32Array): Float32Array => xs.subarray(3 * r, 3 * r + 3);
    const out = await model.score(alone, { entropy: true });
    near(of(together.logp), out.logp, 1e-5);
    near(of(together.entropy!), out.entropy!, 1e-5);
    const { logp, entropy } = coefficients;
    await model.accumulate(alone, linear({ logp: of(logp), entropy: of(entropy!) }), null, "alone");
  }
  const { dot } = model.gradients!;
  const [a, b] = [await dot("together", "together"), await dot("alone", "alone")];
  const difference = a - 2 * (await dot("together", "alone")) + b;
  assert.ok(a > 0 && Math.abs(difference) < 1e-6 * a, `${a} ${b} ${difference}`);
});

test("accumulate in many micro-batches gives the gradient of one", async () => {
  await using engine = bench();
  const batch = randomBatch([40, 3, 18, 25, 9, 33, 60, 14, 5, 21], "split", (r) => `g${r >> 1}`);
  const coefficients = coefficientsFor(batch, "split");
  const after: Float32Array[][] = [];
  for (const [handle, places] of [4096, 64].entries()) {
    const { model } = await engine.make({}, { places });
    let parts = 0;
    const stats = await model.accumulate(
      batch,
      linear(coefficients, "row", () => parts++),
      null,
    );
    assert.ok(places === 4096 ? parts === 1 : parts >= 4, `${parts} parts`);
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
  const { model } = await engine.make({ layers: 1 }, { places: 32 });
  const batch = randomBatch([9, 20, 9, 30, 12, 7], "whole", (r) => `g${r % 3}`);
  const coefficients = coefficientsFor(batch, "whole", false);
  for (const [together, count] of [
    ["row", 3],
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

test("placesFor: a larger model gets fewer places of the same memory, and more memory more of them", () => {
  const places = (more: Partial<DecoderConfig>, bytes: number): number =>
    placesFor({ config: { ...tinyConfig, ...more }, heads: [] }, bytes);
  const large = {
    width: 512,
    layers: 8,
    heads: 8,
    kvHeads: 8,
    headWidth: 64,
    feedForward: 1280,
    vocabulary: 2048,
  };
  assert.equal(places({}, 2 ** 30), 2048, "no more than is fastest");
  const [some, twice] = [places(large, 2 ** 27), places(large, 2 ** 28)];
  assert.ok(some > 64 && some < 2048);
  assert.ok(Math.abs(twice - 2 * some) <= 1);
  assert.equal(places(large, 2 ** 20), 64, "no fewer than can hold a row");
});
