/** A corrected judge: the same order, other numbers; what failed stays failed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Evaluator } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import { calibrated } from "../../src/evaluator/calibrated.ts";
import { atTemperature, fittedTemperature, isotonic } from "../../src/evaluator/calibration.ts";

const call = { random: randomStream(1) };
/** Says 0.9 of what is right in three of four cases, and nothing of what is empty. */
const sure: Evaluator<string> = {
  name: "sure",
  score: async (items) => (items.includes("") ? undefined : items.map(() => ({ a: 0.4, b: 0.5 }))),
  compare: async (first, second) => (first === second ? undefined : 0.9),
  critique: async () => ({ text: "fine" }),
};
const [said, came] = [
  [0.9, 0.9, 0.9, 0.9],
  [1, 1, 1, 0],
];
const near = (actual: number | undefined, expected: number): void =>
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-4, `${actual}, expected ${expected}`);

test("scores and probabilities come out as what they came to", async () => {
  const temperature = fittedTemperature(said, came);
  const cooled = calibrated(sure, (p) => atTemperature(p, temperature));
  const [scored] = (await cooled.score!(["x"], call)) ?? [];
  near(scored?.score, 0.75);
  near(await cooled.compare!("x", "y", call), 0.75);
  const stepped = calibrated(sure, isotonic(said, came));
  assert.deepEqual(await stepped.score!(["x", "y"], call), [{ score: 0.75 }, { score: 0.75 }]);
  assert.equal(cooled.name, "sure, calibrated");
});

test("a preference stays one: the probabilities of both orders add up to 1", async () => {
  const p = async (at: number) =>
    (await calibrated({ name: "p", compare: async () => at }, (x) => x * x).compare!(0, 1, call))!;
  near((await p(0.7)) + (await p(0.3)), 1);
});

test("what failed stays failed, and critiques stay as they are", async () => {
  const { score, compare, critique } = calibrated(sure, () => 1);
  assert.deepEqual(
    [await score!(["x", ""], call), await compare!("x", "x", call), await critique!("x", call)],
    [undefined, undefined, { text: "fine" }],
  );
});

test("what is no answer stays none: a score that is not finite, a preference that is no probability", async () => {
  const odd = calibrated(
    { name: "odd", score: async () => [{ score: Number.NaN }], compare: async () => 7 },
    () => 1,
  );
  assert.deepEqual(await odd.score!(["x"], call), [{ score: Number.NaN }]);
  assert.equal(await odd.compare!("x", "y", call), 7);
});
