import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Helper } from "../../../core/context.ts";
import type { Task } from "../../../core/types.ts";
import { personalReward } from "./personalReward.ts";

const votes = [
  [
    [1, 0],
    [0, 1],
  ],
];
const task: Task = {
  id: "task",
  prompt: [],
  metadata: { votes, items: { i0: [1, 2], i1: [3, 4] } },
  seed: 1,
};
const said = (content: string) =>
  trajectoryOf(content, [turnOf([1], [2], { action: { role: "assistant", content } })]);

function ctxWith(answers: readonly (readonly number[])[]) {
  const seen: unknown[] = [];
  const helper = {
    fit: async (rows: readonly unknown[]) => {
      seen.push(...rows);
      return {};
    },
    predict: async (xs: readonly unknown[]) => {
      seen.push(...xs);
      return answers;
    },
  };
  const ctx = ctxOf({
    tasks: [task, { ...task, id: "mute", metadata: {} }],
    task: () => task,
    // a test's helper stands for any
    helper: <In, Label, Out>() => helper as unknown as Helper<In, Label, Out>,
  });
  return { ctx, seen };
}

test("personalReward asks what a thing is worth to the one who asked; what is no thing is not judged", async () => {
  const { ctx, seen } = ctxWith([[0.75], [Number.NaN]]);
  const failed = { ...said("i0"), end: { kind: "failed", boundary: "model", message: "" } } as const;
  const trajectories = [said("i1"), said("toString"), said("i0"), failed];
  const signals = await personalReward()(ctx, { trajectories, units: [] }, {});
  assert.deepEqual(signals, [
    { kind: "score", channel: "taste", about: [{ trajectory: "i1" }], value: 0.75, source: "helper:taste" },
  ]);
  assert.deepEqual(seen, [
    { votes, things: [[3, 4]] },
    { votes, things: [[1, 2]] },
  ]);
});

test("personalReward learns from everybody who is trained with, and is silent meanwhile", async () => {
  const { ctx, seen } = ctxWith([]);
  assert.deepEqual(
    await personalReward({ learn: true })(ctx, { trajectories: [said("i0")], units: [] }, {}),
    [],
  );
  assert.deepEqual(seen, [
    { x: { votes, things: [] }, y: null, weight: 1 },
    { x: { votes: [], things: [] }, y: null, weight: 1 },
  ]);
});
