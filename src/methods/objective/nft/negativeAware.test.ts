import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { withColumns } from "../../../common/tokens/pack.ts";
import type { Batch } from "../../../core/batch.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { type NegativeAwareOptions, negativeAware } from "./negativeAware.ts";
import { rateColumn } from "./successRates.ts";

const rates = (rate: number) => (batch: Batch) => ({ [rateColumn]: batch.advantage_A.map(() => rate) });

// ratios up to e^0.8 = 2.23 keep (1 − 0.3 R)/0.7 above 0.47: the slope below the floor is tested by hand
for (const weight of ["failures", "deviation", "none"] as const) {
  agrees(`negativeAware ${weight}`, negativeAware({ weight, floor: 0.1 }), rates(0.3));
}
agrees("negativeAware rows", negativeAware({ floor: 0.1, normaliser: "rows" }), rates(0.3));

async function run(batch: Batch, logp: readonly number[], options: NegativeAwareOptions = {}) {
  const objective = negativeAware(options);
  const aux = await objective.prepare(ctxOf({}), batch);
  return objective.evaluate({ logp: Float32Array.from(logp), heads: {} }, batch, aux);
}

test("negativeAware is worked by hand, floored tokens keep their slope", async () => {
  const batch = withColumns(batchOfRows([{ behaviour: [-1, -1, -1], advantage: [1, 0, 0] }]), {
    [rateColumn]: new Float32Array(3).fill(0.25),
  });
  // R = 2, 2, 1/2; r = 1/4, ω = 3/4, N = 3
  // right: ln 2. Wrong at R = 2: Q = (1 − 1/2)/(3/4) = 2/3, floored at 1: ln 1 = 0, slope −(1/4 · 2)/(3/4) = −2/3
  // wrong at R = 1/2: Q = (7/8)/(3/4) = 7/6, slope −(1/8)/(3/4)/(7/6) = −1/7
  const { loss, cotangents, stats } = await run(batch, [
    -1 + Math.log(2),
    -1 + Math.log(2),
    -1 - Math.log(2),
  ]);
  assert.ok(Math.abs(loss - -(0.75 / 3) * (Math.log(2) + 0 + Math.log(7 / 6))) < 1e-6);
  const want = [-1, 2 / 3, 1 / 7].map((x) => x * (0.75 / 3));
  want.forEach((x, a) => {
    assert.ok(Math.abs(cotangents.logp![a]! - x) < 1e-6, `[${a}] ${cotangents.logp![a]}, expected ${x}`);
  });
  assert.equal(stats["floored/tokens"], 1);
});

test("at the sampling policy it is GRPO, or its form without the deviation", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(0, 1), { minLength: 2, maxLength: 8 }),
      fc.array(fc.double({ min: -3, max: -0.1, noNaN: true }), { minLength: 8, maxLength: 8 }),
      async (labels, logps) => {
        const r = labels.reduce<number>((a, b) => a + b, 0) / labels.length;
        if (r === 0 || r === 1) return;
        const rows = (advantage: (y: number) => number) =>
          batchOfRows(labels.map((y, i) => ({ behaviour: [logps[i]!], advantage: [advantage(y)] })));
        const labelled = withColumns(
          rows((y) => y),
          { [rateColumn]: new Float32Array(labels.length).fill(r) },
        );
        const logp = [...labelled.behaviour_A];
        const slopes = async (batch: Batch): Promise<Float32Array> => {
          const grpo = clippedRatio();
          const aux = await grpo.prepare(ctxOf({}), batch);
          return grpo.evaluate({ logp: Float32Array.from(logp), heads: {} }, batch, aux).cotangents.logp!;
        };
        const deviation = Math.sqrt(r * (1 - r));
        for (const [weight, unit] of [
          ["failures", 1],
          ["deviation", deviation],
        ] as const) {
          const own = (await run(labelled, logp, { weight })).cotangents.logp!;
          const other = await slopes(rows((y) => (y - r) / unit));
          own.forEach((x, a) => {
            assert.ok(Math.abs(x - other[a]!) < 1e-5, `${weight} [${a}] ${x} against ${other[a]}`);
          });
        }
      },
    ),
    { seed: 4, numRuns: 50 },
  );
});

test("tokens without a rate or an old log-probability are left out and counted", async () => {
  const batch = withColumns(batchOfRows([{ behaviour: [-1, -1, Number.NaN, -1], advantage: [1, 1, 1, 0] }]), {
    [rateColumn]: Float32Array.of(Number.NaN, 1, 0.5, 0.5),
  });
  const { cotangents, stats, loss } = await run(batch, [-1, -1, -1, -1]);
  assert.equal(stats.unknown, 3);
  assert.deepEqual([...cotangents.logp!.subarray(0, 3)], [0, 0, 0]);
  assert.ok(Number.isFinite(loss) && cotangents.logp![3]! > 0);
});
