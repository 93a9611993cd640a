import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { logSigmoid, sigmoid } from "../../../common/statistics/logistic.ts";
import { withColumns } from "../../../common/tokens/pack.ts";
import { prospectValue } from "./prospectValue.ts";

agrees("prospectValue", prospectValue({ beta: 0.8, desirable: 1.5 }));

const close = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-5, `${got}, expected ${want}`);

/** Log-ratios of 0.5 (good), −0.1 (bad) and 0.8 (neither) when sampled. */
const batch = withColumns(
  batchOfRows([
    { behaviour: [-1, -0.5], advantage: [1, 1] },
    { behaviour: [-1.1], advantage: [-2] },
    { behaviour: [-0.2], advantage: [0] },
  ]),
  { "reference.logp": Float32Array.of(-1, -1, -1, -1) },
);

test("prospectValue by hand", async () => {
  const objective = prospectValue({ beta: 2, undesirable: 0.5 });
  const aux = await objective.prepare(ctxOf({}), batch);
  close(aux.point, (0.5 - 0.1 + 0.8) / 3);
  // now 0.9 and −0.6, z₀ = 0.4: 1 − σ(2 · 0.5) = 0.268941; half of 1 − σ(−2 · −1) = 0.119203
  const logp = Float32Array.of(-0.6, -0.5, -1.6, -0.2);
  const { loss, cotangents, stats } = objective.evaluate({ logp, heads: {} }, batch, aux);
  close(loss, (0.268941 + 0.5 * 0.119203) / 2);
  assert.deepEqual([stats.rows, stats["good/rows"], cotangents.logp![3]], [2, 1, 0]);
});

test("prospectValue: z₀ is never below 0, and 0 where nothing is known", async () => {
  const objective = prospectValue();
  const below = withColumns(batch, { "reference.logp": Float32Array.of(0, 0, 0, 0) });
  assert.equal((await objective.prepare(ctxOf({}), below)).point, 0);
  const blind = { ...batch, logp_A: batch.logp_A.map(() => Number.NaN) };
  assert.equal((await objective.prepare(ctxOf({}), blind)).point, 0);
});

test("the logistic function keeps to its bounds", () => {
  assert.equal(sigmoid(0), 0.5);
  assert.deepEqual([sigmoid(-1000), sigmoid(1000)], [0, 1]);
  assert.equal(logSigmoid(-1000), -1000);
  close(logSigmoid(1), -0.313262);
});
