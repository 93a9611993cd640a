import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf } from "../../../../test/core/make.ts";
import { folder, runIn, settings } from "../../../../test/train/world.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { type LevelState, ladder, levelCurriculum } from "./levelCurriculum.ts";

const tasks: Task[] = Array.from({ length: 30 }, (_, i) => ({
  id: `t${i}`,
  prompt: [],
  metadata: { level: Math.floor(i / 10) },
  seed: i,
}));

const tried = (task: string, success: boolean, more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf(`${task} ${success}`, [], { task, end: { kind: "done", reason: "over", success }, ...more });
const annotated = (trajectories: Trajectory[]): AnnotatedExperience => ({
  trajectories,
  units: [],
  notes: {},
  signals: [],
  channels: {},
});

test("ladder: within the band, else the easiest that is not mastered, else everything", () => {
  const at = (success: Record<string, number>) => ladder([2, 0, 1], success, [0.2, 0.8]);
  assert.deepEqual(at({}), { open: [0], mastered: [] });
  assert.deepEqual(at({ 0: 0.1 }), { open: [0], mastered: [] });
  assert.deepEqual(at({ 0: 0.8 }), { open: [0], mastered: [] }); // the band holds both of its ends
  assert.deepEqual(at({ 0: 0.81 }), { open: [1], mastered: [0] });
  assert.deepEqual(at({ 0: 0.5, 1: 0.3, 2: 0.1 }), { open: [0, 1], mastered: [] });
  assert.deepEqual(at({ 0: 0.9, 1: 0.1, 2: 0.4 }), { open: [2], mastered: [0] });
  assert.deepEqual(at({ 0: 0.9, 1: 0.9, 2: 0.9 }), { open: [0, 1, 2], mastered: [0, 1, 2] });
});

test("levelCurriculum: trains what is open, and so much of what is mastered", async () => {
  const data = levelCurriculum({ tasks: 8, review: 0.25 });
  const state: LevelState = { success: { 0: 0.9, 1: 0.5 }, trained: {} };
  const levels: number[] = [];
  for (let i = 0; i < 400; i++) {
    const { tasks: training, next } = await data.choose(ctxOf({ random: randomStream(i) }), tasks, state);
    assert.equal(new Set(training.map((t) => t.id)).size, 8);
    assert.deepEqual(Object.keys(next.trained).sort(), training.map((t) => t.id).sort());
    levels.push(...training.map((t) => Number(t.metadata.level)));
  }
  assert.ok(levels.every((l) => l < 2));
  // 3200 draws at 1/4: a deviation is 0.0077
  const reviewed = levels.filter((l) => l === 0).length / levels.length;
  assert.ok(Math.abs(reviewed - 0.25) < 0.03, String(reviewed));
});

test("levelCurriculum: success runs on, and only own attempts count", async () => {
  const data = levelCurriculum({ rate: 0.5 });
  const trained = { t0: 0, t1: 0, t10: 1 };
  const first = await data.observe(
    ctxOf({}),
    annotated([
      tried("t0", true),
      tried("t1", false),
      tried("t10", true, { origin: "demonstrated" }),
      tried("t1", false, { end: { kind: "failed", boundary: "environment", message: "broken" } }),
    ]),
    { success: {}, trained },
  );
  assert.deepEqual(first, { success: { 0: 0.5 }, trained: {} });
  // ½ · 0.5 + ½ · 1
  const second = await data.observe(ctxOf({}), annotated([tried("t0", true)]), { ...first, trained });
  assert.deepEqual(second.success, { 0: 0.75 });
});

test("a curriculum that remembers what it chose learns from each iteration once it has been played", async () => {
  const base = grpo.build({ tasks: 3, groupSize: 4, learningRate: 0.3 });
  const data = levelCurriculum({ tasks: 3, level: () => 0 });
  const seen: number[] = [];
  const method = {
    ...base,
    slots: {
      ...base.slots,
      data: {
        ...data,
        observe: async (...args: Parameters<typeof data.observe>) => {
          const next = await data.observe(...args);
          seen.push(Object.keys(next.trained).length);
          return next;
        },
      },
    },
  };
  await runIn(folder(), { ...settings("tabular"), staleness: 1, method, iterations: 3 });
  // of the next iteration the tasks are chosen already, three at most, unless they are the same ones; of the last none
  assert.equal(seen.length, 3);
  assert.equal(seen.at(-1), 0);
});
