import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { scorer } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { type DualRewardOptions, dualReward } from "./dualReward.ts";
import { sufficiency, textJudge } from "./textJudge.ts";

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

test("the text judge is the probability of YES among YES and NO", async () => {
  const { yes, no, question } = sufficiency;
  // the logit of YES is ln 3 above that of NO: probability ¾
  const model = await tabularEngine({ prior: (_, word) => (word === yes ? Math.log(3) : 0) }).create({
    id: "judge",
    seed: 1,
    vocabulary: [`${question} ${yes} ${no} 1 2`, "\n"],
    contextTokens: 64,
  });
  const task = { id: "t", prompt: [], metadata: {}, seed: 1 };
  const call = { random: randomStream(1), run: ctxOf({ model: () => model }) };
  const said = await textJudge().score([{ task, trajectory: attempt("a") }], call);
  assert.ok(Math.abs(said![0]!.score! - 0.75) < 1e-6, JSON.stringify(said));
  assert.equal(await textJudge().score([{ task, trajectory: trajectoryOf("b", []) }], call), undefined);
});
