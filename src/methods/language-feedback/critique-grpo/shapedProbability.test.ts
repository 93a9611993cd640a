import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { shapedProbability } from "./shapedProbability.ts";

agrees("shapedProbability", shapedProbability());
agrees("shapedProbability, sums over rows", shapedProbability({ gamma: 0.5, normaliser: { constant: 1 } }));

test("shapedProbability is worked by hand, and asks for no old log-probability", async () => {
  const unknown = Number.NaN;
  const batch = batchOfRows([{ behaviour: [unknown, unknown, unknown], advantage: [1, 1, -2] }]);
  const logp = Float32Array.of(Math.log(0.1), 0, Math.log(0.4));
  const objective = shapedProbability();
  const aux = await objective.prepare(ctxOf({}), batch);
  const { loss, cotangents, stats } = objective.evaluate({ logp, heads: {} }, batch, aux);
  // f: 0.1/0.2 = 0.5; 1/1.1 = 10/11; 0.4/0.5 = 0.8. slopes: ¼; 0.1/1.21; 0.04/0.25 = 0.16
  const near = (got: number, want: number) => assert.ok(Math.abs(got - want) < 1e-6, `${got}, not ${want}`);
  near(loss, -(0.5 + 10 / 11 - 1.6) / 3);
  near(cotangents.logp![0]!, -0.25 / 3);
  near(cotangents.logp![1]!, -0.1 / 1.21 / 3);
  near(cotangents.logp![2]!, 0.32 / 3);
  near(stats["probability/tokens"]!, 1.5);
});

test("shapedProbability: a token far below γ is pushed by p/γ", async () => {
  const batch = batchOfRows([{ behaviour: [Number.NaN], advantage: [1] }]);
  const objective = shapedProbability();
  const aux = await objective.prepare(ctxOf({}), batch);
  const { cotangents } = objective.evaluate({ logp: Float32Array.of(Math.log(1e-5)), heads: {} }, batch, aux);
  assert.ok(Math.abs(cotangents.logp![0]! + 1e-4) < 1e-7);
});
