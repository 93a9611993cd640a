import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { scorer } from "../../../core/evaluator.ts";
import type { Trajectory } from "../../../core/types.ts";
import { type DualRewardOptions, dualReward } from "./dualReward.ts";

const attempt = (id: string, more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf(id, [turnOf([1], [2], { rewards: { outcome: 0.25 } })], more);

const valuesOf = async (options: DualRewardOptions, attempts = [attempt("a")]) => {
  const counted: Record<string, number> = {};
  const ctx = ctxWith({}, { count: (name, n) => void (counted[name] = (counted[name] ?? 0) + n) });
  const signals = await dualReward(options)(ctx, { trajectories: attempts, units: [] }, {});
  return { counted, values: signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN)) };
};
const made = scorer("made", async () => 0.5);
const text = scorer("text", async () => 1);

test("the reward is the blend of both judges; one without a share is not asked", async () => {
  // 0.75 · 0.5 + 0.25 · 1
  assert.deepEqual((await valuesOf({ made, text, share: 0.25 })).values, [0.625]);
  const alone = await valuesOf({ made, text, share: 0 });
  assert.deepEqual([alone.values, alone.counted["judge.calls"]], [[0.5], 1]);
  // 0.5 · 0.25 from the environment, 0.5 from the text
  assert.deepEqual((await valuesOf({ made: "environment", text, share: 0.5 })).values, [0.625]);
});

test("an attempt that was cut off gets 0; one that a judge failed on, or that failed, gets nothing", async () => {
  const cut = attempt("cut", { end: { kind: "truncated", limit: "turns", at: 1 } });
  const gone = attempt("gone", { end: { kind: "failed", boundary: "environment", message: "away" } });
  assert.deepEqual((await valuesOf({ made, text, share: 0.5 }, [cut, gone])).values, [0]);
  const lost = scorer("lost", async () => undefined);
  const { values, counted } = await valuesOf({ made, text: lost, share: 0.5 });
  assert.deepEqual([values, counted["judge.failures"]], [[], 1]);
});
