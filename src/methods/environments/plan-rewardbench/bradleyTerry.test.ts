import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../../core/errors.ts";
import { wordGrams } from "../../../helper/wordGrams.ts";
import { bradleyTerry, featureDifference } from "./bradleyTerry.ts";

test("bradleyTerry: one feature, three wins of four: θ = ln 3", async () => {
  const helper = bradleyTerry({ strength: 0, passes: 2000 })();
  const x = { better: 1 };
  // σ(θ) = 3/4 where the slope of the likelihood is 0
  const stats = await helper.fit([
    { x, y: 1, weight: 3 },
    { x, y: 0, weight: 1 },
  ]);
  const [score] = await helper.predict([x]);
  assert.ok(Math.abs(score! - Math.log(3)) < 1e-3, String(score));
  assert.ok(Math.abs(stats.loss! - (-0.75 * Math.log(0.75) - 0.25 * Math.log(0.25))) < 1e-6);
  assert.equal(stats.accuracy, 0.75);
  assert.deepEqual(await helper.predict([{ unknown: 9 }, {}]), [0, 0]);
});

test("bradleyTerry: the penalty holds what is always won, and the state comes back", async () => {
  const helper = bradleyTerry({ strength: 0.1, passes: 2000 })();
  await helper.fit([{ x: { a: 1, b: -1 }, y: 1, weight: 1 }]);
  const [a, b] = await helper.predict([{ a: 1 }, { b: 1 }]);
  // λ θ = 1 − σ(2 θ): 0.1 · 1.148 ≈ 1 − σ(2.296)
  assert.ok(Math.abs(0.1 * a! - (1 - 1 / (1 + Math.exp(-2 * a!)))) < 1e-4);
  assert.ok(Math.abs(a! + b!) < 1e-9);
  const again = bradleyTerry()();
  again.load(JSON.parse(JSON.stringify(helper.save())));
  assert.deepEqual(await again.predict([{ a: 1 }]), [a]);
  assert.deepEqual(await bradleyTerry()().fit([]), { rows: 0 });
  assert.throws(
    () => again.load({ a: "x" }),
    (e) => isWhetstoneError(e) && e.code === "checkpoint.damaged",
  );
});

test("wordGrams and featureDifference are worked by hand", () => {
  assert.deepEqual(wordGrams(["a", "b", "a"], 3), { a: 2, b: 1, "a b": 1, "b a": 1, "a … a": 1 });
  assert.deepEqual(wordGrams([]), {});
  assert.deepEqual(featureDifference({ a: 2, b: 1 }, { a: 2, c: 4 }), { b: 1, c: -4 });
});
