import assert from "node:assert/strict";
import { test } from "node:test";
import type { Helper } from "../../src/core/context.ts";
import type { Trajectory } from "../../src/core/words.ts";
import { lastWords, predictedReaction, reactedBy } from "../../src/feedback/predictedReaction.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const replied = (content: string, rewards: Record<string, number>, more: Partial<Trajectory> = {}) =>
  trajectoryOf(content, [turnOf([1], [2], { action: { role: "assistant", content }, rewards })], more);

const failed = { end: { kind: "failed", boundary: "environment", message: "" } } as const;
const some = [
  replied("well done well", { love: 1 }),
  replied("no", { love: 0 }),
  replied("unseen", {}),
  replied("lost", { love: 1 }, failed),
];

function helperOf(answers: readonly number[]) {
  const fitted: unknown[] = [];
  const asked: unknown[] = [];
  const helper = {
    fit: async (rows: readonly unknown[]) => {
      fitted.push(...rows);
      return {};
    },
    predict: async (xs: readonly unknown[]) => {
      asked.push(...xs);
      return answers;
    },
  };
  // a test's helper stands for any
  const ctx = ctxOf({ helper: <In, Label, Out>() => helper as unknown as Helper<In, Label, Out> });
  return { fitted, asked, ctx };
}

test("predictedReaction learns from all that could be reacted to, silence at its weight, and then says nothing", async () => {
  const { ctx, fitted } = helperOf([]);
  const learn = predictedReaction({ helper: "love", learn: reactedBy("love"), silence: 0.5 });
  assert.deepEqual(await learn(ctx, { trajectories: some, units: [] }, {}), []);
  assert.deepEqual(fitted, [
    { x: { well: 2 / 3, done: 1 / 3 }, y: 1, weight: 1 },
    { x: { no: 1 }, y: 0, weight: 0.5 },
  ]);
});

test("predictedReaction scores every reply that did not fail, and is silent about what it does not know", async () => {
  const { ctx, asked } = helperOf([0.75, Number.NaN, 0.25]);
  const signals = await predictedReaction({ helper: "love" })(ctx, { trajectories: some, units: [] }, {});
  const score = { kind: "score", channel: "love", source: "helper:love" };
  assert.deepEqual(signals, [
    { ...score, about: [{ trajectory: "well done well" }], value: 0.75 },
    { ...score, about: [{ trajectory: "unseen" }], value: 0.25 },
  ]);
  assert.deepEqual(asked.at(-1), { unseen: 1 });
});

test("lastWords and reactedBy: no turn, no word, no reaction that could have come", () => {
  assert.deepEqual(lastWords(trajectoryOf("none", [])), {});
  assert.deepEqual(lastWords(replied("  ", {})), {});
  assert.equal(reactedBy("love")(replied("x", {})), undefined);
  assert.equal(reactedBy("love")(replied("x", { love: 0 })), false);
});
