import assert from "node:assert/strict";
import { test } from "node:test";
import { averageStats } from "../../src/common/statistics/stats.ts";
import { gather, selectRows, withColumns } from "../../src/common/tokens/pack.ts";
import type { Batch } from "../../src/core/batch.ts";
import type { Normaliser } from "../../src/objective/normaliser.ts";
import { type ValueRegressionOptions, valueRegression } from "../../src/objective/valueRegression.ts";
import { batchOfRows, ctxOf } from "../core/make.ts";

/** Four tokens in two rows, one without a target and one without weight. */
function judged(): Batch {
  const batch = batchOfRows([
    { behaviour: [-1, -1, -1], advantage: [9, 9, 9] },
    { behaviour: [-1, -1], advantage: [0, 0], weight: [1, 0] },
  ]);
  return withColumns(batch, { return: Float32Array.of(1, Number.NaN, 0, 2, 7) });
}
const value_A = Float32Array.of(0.5, 3, 1, 1, 5);

async function run(options: ValueRegressionOptions, batch: Batch, value: Float32Array) {
  const objective = valueRegression(options);
  const aux = await objective.prepare(ctxOf({}), batch);
  return objective.evaluate({ logp: new Float32Array(value.length), heads: { value } }, batch, aux);
}

test("valueRegression is worked by hand", async () => {
  // errors −0.5, 1, −1 on three tokens that count: ½ (0.25 + 1 + 1) / 3 = 0.375
  const { loss, cotangents, stats } = await run({}, judged(), value_A);
  assert.equal(loss, 0.375);
  assert.deepEqual([...cotangents.heads!.value!], [-0.5 / 3, 0, 1 / 3, -1 / 3, 0].map(Math.fround));
  const { tokens, value, error } = averageStats(stats);
  assert.deepEqual([tokens, value, error], [3, 2.5 / 3, 0.75]);
});

for (const normaliser of ["tokens", "rows", { constant: 8 }] satisfies Normaliser[]) {
  test(`valueRegression ${JSON.stringify(normaliser)}: cotangents are slopes, and parts add up`, async () => {
    const options = { normaliser, coefficient: 0.5 };
    const batch = judged();
    const { loss, cotangents } = await run(options, batch, value_A);
    const h = 1 / 1024; // exact in float32
    for (let a = 0; a < value_A.length; a++) {
      const at = async (d: number) =>
        (
          await run(
            options,
            batch,
            value_A.map((x, i) => (i === a ? x + d : x)),
          )
        ).loss;
      const slope = ((await at(h)) - (await at(-h))) / (2 * h);
      assert.ok(Math.abs(slope - cotangents.heads!.value![a]!) < 1e-6);
    }
    const objective = valueRegression(options);
    const aux = await objective.prepare(ctxOf({}), batch);
    let sum = 0;
    for (const r of [0, 1]) {
      const part = selectRows(batch, [r]);
      const value = gather(value_A, part.index_A);
      sum += objective.evaluate({ logp: value, heads: { value } }, part, aux).loss;
    }
    assert.ok(Math.abs(sum - loss) < 1e-9);
  });
}

test("valueRegression says which column or head is missing", async () => {
  const bare = batchOfRows([{ behaviour: [-1], advantage: [1] }]);
  await assert.rejects(run({}, bare, Float32Array.of(0)), /column "return"/);
  await assert.rejects(run({ head: "low" }, judged(), value_A), /head "low"/);
});
