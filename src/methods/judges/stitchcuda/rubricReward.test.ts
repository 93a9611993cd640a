import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { scorer } from "../../../core/evaluator.ts";
import type { Trajectory } from "../../../core/types.ts";
import { told } from "./bothSkills.ts";
import {
  executedOf,
  type RubricRewardOptions,
  rubricReward,
  rubricWeight,
  ruleReward,
} from "./rubricReward.ts";

const ran = (rewards: Readonly<Record<string, number>>, more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf("t", [turnOf([1], [2], { rewards })], more);
const fast = ran({ compiled: 1, correct: 1, speedup: 1.5 });
const wrong = ran({ compiled: 1, correct: 0, speedup: 0 });
const broken = ran({ compiled: 0, correct: 0, speedup: 0 });

const paidFor = async (t: Trajectory, options: RubricRewardOptions): Promise<number | undefined> => {
  const [signal] = await rubricReward(options)(ctxWith({}), { trajectories: [t], units: [] }, {});
  return signal?.kind === "reward" ? signal.value : undefined;
};

test("rules: nothing, a tenth, or a half and the speedup up to 2", () => {
  const of = (compiled: boolean, correct: boolean, speedup: number) =>
    ruleReward({ compiled, correct, speedup });
  assert.deepEqual(
    [of(false, false, 3), of(true, false, 3), of(true, true, -1), of(true, true, 1.5), of(true, true, 3)],
    [0, 0.1, 0.5, 2, 2.5],
  );
  assert.deepEqual(
    [
      { compiled: true, correct: true, speedup: 0 },
      { compiled: true, correct: false, speedup: 0 },
      { compiled: false, correct: false, speedup: 0 },
    ].map((told) => rubricWeight(told)),
    [0.5, 0.2, 0],
  );
});

test("the rubric adds its share, and lifts no wrong program above a correct one", async () => {
  const rubric = { name: "rubric", score: async () => [{ fuses: 1, kernels: 0.5 }] };
  // 0.5 + 1.5 + 0.5 · 0.75;  0.1 + 0.2 · 0.75
  assert.equal(await paidFor(fast, { rubric }), 2.375);
  assert.equal(await paidFor(wrong, { rubric }), 0.25);
  assert.equal(await paidFor(broken, { rubric }), 0);
  const best = scorer("best", async () => 1);
  assert.ok((await paidFor(wrong, { rubric: best }))! < 0.5);
});

test("what is vetoed is worth 0; a failed veto or rubric gives no signal, and a rubric that does not count is not asked", async () => {
  const veto = scorer("veto", async () => 0.2);
  const lost = scorer("lost", async () => undefined);
  assert.equal(await paidFor(fast, { veto }), 0);
  assert.equal(await paidFor(fast, { veto: lost }), undefined);
  assert.equal(await paidFor(fast, { rubric: lost }), undefined);
  assert.equal(await paidFor(broken, { rubric: lost }), 0);
});

test("without rewards of its own, an attempt that ended compiled, and a success is correct", () => {
  const done = ran({ outcome: 1 }, { end: { kind: "done", reason: "right", success: true } });
  assert.deepEqual(executedOf(done), { compiled: true, correct: true, speedup: 0 });
  const cut = ran({}, { end: { kind: "truncated", limit: "turns", at: 3 } });
  assert.deepEqual(executedOf(cut), { compiled: false, correct: false, speedup: 0 });
});

test("what an attempt was told is the text of its last turn", async () => {
  const call = { random: ctxWith({}).random };
  const task = { id: "t", prompt: [], metadata: {}, seed: 1 };
  const after = async (text?: string) =>
    told.critique(
      { task, trajectory: trajectoryOf("t", [turnOf([1], [2], text === undefined ? {} : { text })]) },
      call,
    );
  assert.deepEqual(await after("wrong at step 2"), { text: "wrong at step 2" });
  assert.equal(await after(), undefined);
});
