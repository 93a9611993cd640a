import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { byProgress, drawnByWeight, type ProgressState } from "../../src/data/byProgress.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const tasks: Task[] = Array.from({ length: 4 }, (_, i) => ({
  id: `t${i}`,
  prompt: [],
  metadata: {},
  seed: i,
}));

/** An attempt at a task, with its reward. */
const attempt = (task: string, reward: number, extra: object = {}) =>
  trajectoryOf(`${task}/${reward}`, [turnOf([1], [2], { rewards: { paid: reward } })], { task, ...extra });

const observed = (state: ProgressState, ...attempts: ReturnType<typeof attempt>[]) =>
  byProgress({ rate: 0.5 }).observe(
    ctxOf({}),
    { trajectories: attempts, units: [], notes: {}, signals: [], channels: {} },
    state,
  );

test("progress is the running mean of the changes in a task's mean reward; the first is a change from 0", async () => {
  let state = byProgress().init(tasks);
  state = await observed(state, attempt("t0", 0.2), attempt("t0", 0.6), attempt("t1", 0));
  // ½ (0.4 − 0), ½ (0 − 0)
  assert.deepEqual(state.played, { t0: { last: 0.4, progress: 0.2 }, t1: { last: 0, progress: 0 } });
  state = await observed(state, attempt("t0", 1));
  // ½ (1 − 0.4) + ½ 0.2; what was not played stays
  assert.ok(Math.abs(state.played.t0!.progress - 0.4) < 1e-12);
  assert.deepEqual(state.played.t1, { last: 0, progress: 0 });
  state = await observed(state, attempt("t0", 0));
  // forgotten: ½ (0 − 1) + ½ 0.4
  assert.ok(Math.abs(state.played.t0!.progress + 0.3) < 1e-12);
});

test("replayed and failed attempts say nothing of progress", async () => {
  const state = await observed(
    byProgress().init(tasks),
    attempt("t0", 1, { origin: "replayed" }),
    attempt("t1", 1, { end: { kind: "failed", error: "gone" } }),
  );
  assert.deepEqual(state.played, {});
});

test("tasks come in proportion to the size of their progress; one that was never played weighs as much as the heaviest", async () => {
  const played = {
    t0: { last: 1, progress: 0.3 },
    t1: { last: 0, progress: 0 },
    t2: { last: 0.5, progress: -0.1 },
  };
  const data = byProgress({ tasks: 1, explore: 0 });
  const times = new Map<string, number>();
  for (let i = 0; i < 7000; i++) {
    const { tasks: chosen } = await data.choose(ctxOf({ random: randomStream(i) }), tasks, { played });
    times.set(chosen[0]!.id, (times.get(chosen[0]!.id) ?? 0) + 1);
  }
  // 0.3 : 0 : 0.1 : 0.3
  assert.ok(Math.abs(times.get("t0")! - 3000) < 150, String(times.get("t0")));
  assert.equal(times.get("t1"), undefined);
  assert.ok(Math.abs(times.get("t2")! - 1000) < 110, String(times.get("t2")));
  assert.ok(Math.abs(times.get("t3")! - 3000) < 150, String(times.get("t3")));
});

test("draws never repeat a task; without weights, or with chance ε, they are uniform; more places than tasks give all", () => {
  const draw = (weights: readonly number[], places: number, explore: number, seed: number): string[] =>
    drawnByWeight(tasks, ({ seed: i }) => weights[i]!, { places, explore }, randomStream(seed)).map(
      (t) => t.id,
    );
  for (let seed = 0; seed < 50; seed++) assert.equal(new Set(draw([1, 2, 0, 5], 3, 0.2, seed)).size, 3);
  assert.deepEqual(draw([1, 0, 0, 0], 9, 0, 1).toSorted(), ["t0", "t1", "t2", "t3"]);
  const share = (weights: readonly number[], explore: number): number =>
    Array.from({ length: 4000 }, (_, seed) => Number(draw(weights, 1, explore, seed)[0] === "t0")).reduce(
      (a, b) => a + b,
    ) / 4000;
  assert.ok(Math.abs(share([0, 0, 0, 0], 0) - 0.25) < 0.025);
  // ½ · 1 + ½ · ¼
  assert.ok(Math.abs(share([1, 0, 0, 0], 0.5) - 0.625) < 0.03);
});

test("the state is plain data, and equal streams choose equally", async () => {
  const state = await observed(byProgress().init(tasks), attempt("t0", 0.5), attempt("t2", 1));
  const again: ProgressState = JSON.parse(JSON.stringify(state));
  const choose = async (from: ProgressState) =>
    (await byProgress({ tasks: 2 }).choose(ctxOf({ random: randomStream(3) }), tasks, from)).tasks;
  assert.deepEqual(await choose(again), await choose(state));
});
