import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { readTwoAnswers, twoAnswers } from "../../../common/text/twoAnswers.ts";
import type { Able } from "../../../core/evaluator.ts";
import type { Stats, Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { accuracy, lengthBell, type ReflectionOptions, reflection } from "./reflection.ts";

const vocabulary = ["<think> </think> <answer> </answer> <reflection> </reflection> yes no so hm"];
const model = await tabularEngine().create({ id: "policy", seed: 1, vocabulary, contextTokens: 64 });

/** "yes" is right. */
const environment: Pick<Able<"score">, "score"> = {
  score: async (attempts) =>
    attempts.map(({ trajectory }): Stats => {
      const { content } = trajectory.turns.at(-1)!.action;
      return content === "broken" ? {} : { outcome: content === "yes" ? 1 : 0 };
    }),
};
const ctx = ctxWith(environment, { model: () => model });

const replied = (text: string): Trajectory =>
  trajectoryOf("t", [
    turnOf([1], [...model.codec.encode(text)], { action: { role: "assistant", content: text } }),
  ]);
const twice = (first: string, second: string): string =>
  twoAnswers({ thought: "so so so so so so so", answer: first }, "hm", { thought: "so", answer: second });

async function heard(t: Trajectory, options: ReflectionOptions = {}) {
  const signals = await reflection(options)(ctx, { trajectories: [t], units: [] }, {});
  return Object.fromEntries(signals.map((s) => [s.channel, s.kind === "reward" ? s.value : undefined]));
}

test("readTwoAnswers reads its own form, and nothing else as that form", () => {
  assert.deepEqual(readTwoAnswers(twice("yes", "no")), {
    answers: ["yes", "no"],
    formed: true,
    thought: "so so so so so so so",
  });
  const bad = [
    `${twice("yes", "no")} hm`,
    twice("yes", "no").replace("<reflection> hm </reflection> ", ""),
    twice("yes", "no").replace("<think> so </think> ", ""),
    `${twice("yes", "no")} <answer> yes </answer>`,
    "<think> <think> so </think> </think> <answer> yes </answer>",
    "",
  ];
  for (const text of bad) assert.equal(readTwoAnswers(text).formed, false, text);
  assert.deepEqual(readTwoAnswers("<answer> yes </answer>").answers, ["yes"]);
  assert.deepEqual(readTwoAnswers("yes").answers, []);
});

test("accuracy: mended, kept, broken, wrong; half for one answer alone", () => {
  const worth = [[false, true], [true, true], [true, false], [false, false], [true], [false], []].map(
    (right) => accuracy(right),
  );
  assert.deepEqual(worth, [1, 0.75, 0.25, 0, 0.5, 0, 0]);
  assert.equal(accuracy([true, true], 1), 1);
});

test("lengthBell: 1 at twice the first attempt, 1/e half an attempt off", () => {
  assert.equal(lengthBell(20, 10), 1);
  for (const total of [15, 25]) assert.ok(Math.abs(lengthBell(total, 10) - Math.exp(-1)) < 1e-12);
});

test("reflection is worked by hand, each part in a channel of its own", async () => {
  // 21 tokens, 10 of them tags; the first thought and answer have 7 and 1: (21 − 16) / 4 = 5/4
  assert.deepEqual(await heard(replied(twice("no", "yes"))), {
    accuracy: 1,
    format: 0.5,
    length: 0.1 * Math.exp(-25 / 16),
  });
  const { accuracy: broken } = await heard(replied(twice("yes", "no")));
  assert.equal(broken, 0.25);
  assert.deepEqual(await heard(replied("<answer> yes </answer>")), { accuracy: 0.5, format: 0, length: 0 });
});

test("reflection: what could not be verified has no accuracy, what failed has nothing", async () => {
  const unknown = replied("hm");
  const [turn] = unknown.turns;
  const content = twice("broken", "yes");
  const t = { ...unknown, turns: [{ ...turn!, action: { ...turn!.action, content } }] };
  const signals = await reflection()(
    ctxWith(environment, {
      model: () => ({ ...model, codec: { ...model.codec, encode: () => Int32Array.of(1) } }),
    }),
    { trajectories: [t], units: [] },
    {},
  );
  assert.deepEqual(
    signals.map((s) => s.channel),
    ["format", "length"],
  );
  const failed = { ...replied(""), end: { kind: "failed", boundary: "tool", message: "" } as const };
  assert.deepEqual(await heard(failed), {});
});

test("reflection: answers in turns, as they were paid", async () => {
  const turns = [0, 1].map((outcome) => turnOf([1], [2], { rewards: { outcome } }));
  assert.deepEqual(await heard(trajectoryOf("t", turns), { answers: "turns" }), { accuracy: 1 });
  assert.deepEqual(await heard(trajectoryOf("t", turns.slice(1)), { answers: "turns" }), { accuracy: 0.5 });
});
