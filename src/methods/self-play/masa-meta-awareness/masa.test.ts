import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { effort } from "./effort.ts";
import {
  type Attempted,
  lengthReward,
  metaReward,
  notionReward,
  predictionIn,
  rateReward,
} from "./metaReward.ts";
import {
  isForegone,
  type PredictAndSolveOptions,
  predictAndSolve,
  selfAlignment,
} from "./predictAndSolve.ts";

obeysTheLaws(() => effort({ tasks: 8 }), { garbage: 0.3 });

test("the rate's reward by hand", () => {
  // 0.01^d at distances 0, 1/8, 1/4, 1/2
  for (const [distance, want] of [
    [0, 1],
    [0.125, 0.5623],
    [0.25, 0.3162],
    [0.5, 0.1],
  ] as const) {
    assert.ok(Math.abs(rateReward(0.25, 0.25 + distance) - want) < 1e-4);
    assert.ok(Math.abs(rateReward(0.25 + distance, 0.25) - want) < 1e-4);
  }
});

const attempts: readonly Attempted[] = [
  { right: true, length: 10, text: "carry the sum" },
  { right: true, length: 20, text: "Carry on" },
  { right: false, length: 40, text: "the sum of it" },
  { right: false, length: 2, text: "guess" },
];

test("a length counts strictly between right attempts alone", () => {
  assert.deepEqual(
    [10, 11, 19, 20, 30].map((length) => lengthReward(length, attempts)),
    [0, 1, 1, 0, 0],
  );
  assert.equal(lengthReward(10, attempts.slice(0, 1)), 0);
  assert.equal(lengthReward(20, attempts.slice(2)), 0);
});

test("notions count where more right than wrong attempts have them and the task does not name them", () => {
  // carry: 2 right, 0 wrong; sum: 1 and 1; guess: 0 and 1
  assert.equal(notionReward(["carries", "sum"], "", attempts), 0);
  assert.equal(notionReward(["carry", "sum", "guess"], "", attempts), 1 / 3);
  assert.equal(notionReward(["carrys", "carry"], "", attempts), 1);
  assert.equal(notionReward(["carry", "sum"], "what is the sum", attempts), 1);
  assert.equal(notionReward(["sum"], "what is the sum", attempts), 0);
  assert.equal(notionReward([], "", attempts), 0);
});

test("predictions are read by their fields, and a missing field is worth 0", () => {
  assert.deepEqual(predictionIn("pass 4 length 15 notions Carry , sum"), {
    passRate: 0.5,
    length: 15,
    notions: ["carry", "sum"],
  });
  assert.deepEqual(predictionIn("pass 9 long"), { notions: [] });
  // rate exact, length between 10 and 20, one notion of two
  assert.ok(
    Math.abs(metaReward(predictionIn("pass 4 length 15 notions carry , sum"), "", attempts) - 2.5 / 3) <
      1e-12,
  );
  assert.ok(Math.abs(metaReward(predictionIn("pass 4"), "", attempts) - 1 / 3) < 1e-12);
  assert.equal(metaReward(predictionIn("who knows"), "", attempts), 0);
});

test("a task is foregone where predictions agree on all or none", () => {
  const of = (...eighths: readonly number[]) =>
    isForegone(eighths.map((n) => ({ passRate: n / 8, notions: [] })));
  assert.ok(of(0, 0, 0, 1) && of(8, 8) && of(8, 8, 7, 8));
  assert.ok(!of(0, 0, 0, 4) && !of(4, 4) && !of(0, 8) && !of(1, 1));
  assert.ok(!isForegone([{ notions: [] }]));
});

const tasks: readonly Task[] = ["x", "y"].map((id) => ({
  id,
  prompt: [{ role: "user", content: id }],
  metadata: {},
  seed: 1,
}));

/** Plays x, of which none is expected to be right, and y, of which half are; all attempts at y are right and one is longer. */
async function playedWith(options: PredictAndSolveOptions, iteration = 9) {
  const asked: Play[] = [];
  const ctx = ctxOf({
    clock: { iteration, phase: "train", step: 0 },
    tasks,
    task: (id) => tasks.find((task) => task.id === id)!,
    random: randomStream(1),
    play: async (play) => {
      asked.push(play);
      const predicts = play.advice !== undefined;
      const content = predicts ? (play.task === "x" ? "pass 0 length 3" : "pass 4 length 3") : "done";
      const tokens = predicts || play.attempt > 0 ? [2, 2, 2] : [2];
      return [
        trajectoryOf(
          `${play.task}/${play.attempt}`,
          [turnOf([1], tokens, { action: { role: "assistant", content }, rewards: { outcome: 1 } })],
          {
            task: play.task as string,
            end: { kind: "done", reason: "", success: play.task === "y" },
          },
        ),
      ];
    },
  });
  const experience = await predictAndSolve({
    groupSize: 2,
    predictions: 2,
    warmUp: 5,
    recheck: 0,
    ...options,
  })(ctx);
  const signals = await selfAlignment(ctx, experience, {});
  const paid = new Map(
    signals.flatMap((s) => (s.kind === "reward" ? [[s.about[0]!.trajectory, s.value]] : [])),
  );
  return { asked, paid, ...experience };
}

test("predictions and attempts are two groups; foregone tasks are skipped after the warm-up alone", async () => {
  const early = await playedWith({}, 4);
  assert.deepEqual(
    [...new Set(early.units.map(({ group }) => group))],
    ["x", "x/predictions", "y", "y/predictions"],
  );
  assert.equal(early.asked.length, 8);
  assert.ok(
    early.asked.every(({ advice, limits }) => (advice === undefined ? !limits : limits?.turns === 1)),
  );
  const late = await playedWith({});
  assert.deepEqual([...new Set(late.units.map(({ group }) => group))], ["y", "y/predictions"]);
  assert.equal(late.asked.length, 6);
  assert.equal(late.stats?.skipped, 0.5);
  assert.equal(late.stats?.["prediction.error"], 0.5);
  // attempts are cut at twice the predicted length, rounded up
  assert.deepEqual(
    late.asked.filter(({ advice }) => advice === undefined).map(({ limits }) => limits?.actionTokens),
    [6, 6],
  );
  assert.equal((await playedWith({ recheck: 1 })).asked.length, 8);
  assert.equal(new Set(early.asked.map(({ task, attempt }) => `${task} ${attempt}`)).size, 8);
});

test("attempts are paid by the environment, predictions by the attempts, and never the other way", async () => {
  const { paid } = await playedWith({}, 4);
  assert.equal(paid.get("y/0"), 1);
  // y: rate ½ of 1 gives 0.1; length 3 is not below the longest of 1 and 3: 0; no notions
  assert.ok(Math.abs(paid.get("y/2")! - 0.1 / 3) < 1e-12);
  // x: rate 0 of 0, no right attempt has a length
  assert.ok(Math.abs(paid.get("x/2")! - 1 / 3) < 1e-12);
});
