import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Trajectory } from "../../../core/types.ts";
import { ridge } from "../../../helper/ridge.ts";
import { argumentsIn, f1, matches } from "./argumentF1.ts";
import { critiqueReward } from "./critiqueReward.ts";
import { reasons, reasonWords } from "./reasons.ts";

obeysTheLaws(() => reasons(1, 0.1), { garbage: 1 });

test("arguments are sentences and lines, each once", () => {
  assert.deepEqual(argumentsIn("Too long. It is wrong\nToo long.; "), ["Too long", "It is wrong"]);
  assert.deepEqual(argumentsIn(" . "), []);
});

test("F1 weighs what was said against what should have been", () => {
  // P = 1, R = ½;  P = ½, R = 1;  P = R = ½;  listing everything costs precision
  assert.equal(f1(1, 1, 2), 2 / 3);
  assert.equal(f1(1, 2, 1), 2 / 3);
  assert.equal(f1(1, 2, 2), 0.5);
  assert.equal(f1(2, 10, 2), 1 / 3);
  assert.equal(f1(0, 0, 0), 0);
});

test("each argument is matched once, the most similar first", () => {
  const similar = [
    [0.9, 0.95],
    [0.1, 0.9],
  ];
  assert.equal(matches(similar, 0.8), 1); // 0 with 1; then 1 has nobody left
  assert.equal(
    matches(
      [
        [0.9, 0.1],
        [0.1, 0.9],
      ],
      0.8,
    ),
    2,
  );
  assert.equal(matches(similar, 0.99), 0);
  assert.equal(matches([], 0.5), 0);
});

/** Words are orthogonal unless equal. */
const embed = async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
  const names = [...new Set(texts)];
  return texts.map((text) => Float32Array.from(names, (name) => Number(name === text)));
};
const judged = (id: string, task: string, content: string, success: boolean): Trajectory => ({
  ...trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], {
    end: { kind: "done", reason: "said", success },
  }),
  task,
});
const valuesOf = async (
  attempts: readonly Trajectory[],
  options: Partial<Parameters<typeof critiqueReward>[0]> = {},
) => {
  const meta = ridge({ strength: 1e-6 })();
  const ctx = ctxOf({
    embed,
    helper: () => meta as never,
    task: (id) => ({
      id,
      prompt: [],
      metadata: id === "told" ? { critique: "too long. wrong" } : {},
      seed: 1,
    }),
  });
  const signals = await critiqueReward({ lambda: 1, ...options })(
    ctx,
    { trajectories: attempts, units: [] },
    {},
  );
  return signals.map((s) => (s.kind === "reward" ? Number(s.value.toFixed(4)) : Number.NaN));
};

test("verdict and arguments are paid; the gate leaves nothing for a wrong verdict", async () => {
  const attempts = [
    judged("a", "told", "wrong", true), // F1 of 1 among 2: 2/3
    judged("b", "told", "too long. wrong", false),
    judged("c", "untold", "wrong", true),
  ];
  assert.deepEqual(await valuesOf(attempts), [1.6667, 1, 1]);
  assert.deepEqual(await valuesOf(attempts, { lambda: 3 }), [3, 3, 1]);
  assert.deepEqual(await valuesOf(attempts, { gated: true }), [1.6667, 0, 1]);
});

test("where people wrote nothing, the meta reward model says what they wrote of the same words", async () => {
  const attempts = [
    judged("a", "told", "wrong", true),
    judged("b", "told", "pretty", true),
    judged("c", "untold", "wrong", false),
    judged("d", "untold", "pretty", true),
  ];
  assert.deepEqual(await valuesOf(attempts, { meta: "meta" }), [1.6667, 1, 0.6667, 1]);
});

test("a meta reward model without a number gives no reward, and not a critique that is worth 0", async () => {
  const lost = { fit: async () => ({}), predict: async (xs: readonly unknown[]) => xs.map(() => Number.NaN) };
  const ctx = ctxOf({
    embed,
    helper: () => lost as never,
    task: (id) => ({ id, prompt: [], metadata: {}, seed: 1 }),
  });
  const trajectories = [judged("c", "untold", "wrong", true)];
  assert.deepEqual(
    await critiqueReward({ lambda: 1, meta: "meta" })(ctx, { trajectories, units: [] }, {}),
    [],
  );
});

test("reasons: the spurious one is best in training and a coin later; a few pairs have a critique", () => {
  const world = reasons(2, 0.1);
  const of = (shifted: boolean) => reasonWords.map((word) => world.accuracyOf(`${word} r9`, shifted));
  assert.deepEqual(of(false).slice(0, 3), [0.85, 0.85, 0.95]);
  assert.deepEqual(of(true).slice(0, 3), [0.85, 0.85, 0.5]);
  assert.ok(
    of(true)
      .slice(3)
      .every((a, i) => a > 0.6 && a < 0.75 && a === of(false)[i + 3]),
  );
  const tasks = world.tasks("train");
  const told = tasks.filter(({ metadata }) => metadata.critique !== undefined).length;
  assert.ok(Math.abs(told / tasks.length - 0.1) < 0.05, `${told}`);
  assert.equal(world.accuracyOf("constructor", false), 0);
});
