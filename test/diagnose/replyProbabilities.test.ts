import assert from "node:assert/strict";
import { test } from "node:test";
import { expectedValue, meanOver, replyProbabilities } from "../../src/diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";

const task = { id: "t", prompt: [{ role: "user" as const, content: "say" }], metadata: {}, seed: 1 };

/** Only a and b are ever said, a three times as often; after a word b follows always. */
const model = () =>
  tabularEngine({
    prior: (context, word) =>
      word === "b" ? 0 : word === "a" && !["a", "b"].includes(context.at(-1) ?? "") ? Math.log(3) : -1e9,
  }).create({ id: "policy", seed: 1, vocabulary: ["a", "b", "say"], contextTokens: 8 });

test("replyProbabilities multiplies along a reply's words", async () => {
  const p = await replyProbabilities(await model(), task, ["a", "b", "a b", "a a"]);
  [0.75, 0.25, 0.75, 0].forEach((want, i) => {
    assert.ok(Math.abs(p[i]! - want) < 1e-6, `${i}: ${p[i]}, expected ${want}`);
  });
});

test("expectedValue weighs values by probability, meanOver is the mean over tasks", async () => {
  const policy = await model();
  const value = (reply: string, i: number): number => (reply === "a" ? 2 : 4) + i;
  const got = await meanOver([task, { ...task, id: "u" }], (t) =>
    expectedValue(policy, t, ["a", "b"], value),
  );
  assert.ok(Math.abs(got - (0.75 * 2 + 0.25 * 5)) < 1e-6, `${got}`);
});
