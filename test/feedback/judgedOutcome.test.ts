import assert from "node:assert/strict";
import { test } from "node:test";
import { scorer } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { judgedOutcome } from "../../src/feedback/judgedOutcome.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const task: Task = { id: "task", prompt: [], metadata: {}, seed: 1 };
const attempt = trajectoryOf("t", [turnOf([1], [2])]);

test("a score of at least a half is 1, below it 0; no score is no signal", async () => {
  const paidFor = async (score: number | undefined) => {
    const ctx = ctxOf({ random: randomStream(1), task: () => task });
    const evaluator = scorer("e", async () => score);
    const signals = await judgedOutcome(evaluator)(ctx, { trajectories: [attempt], units: [] }, {});
    return signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN));
  };
  assert.deepEqual(await paidFor(0.5), [1]);
  assert.deepEqual(await paidFor(0.49), [0]);
  assert.deepEqual(await paidFor(undefined), []);
});

test("failed episodes get no signal", async () => {
  const end = { kind: "failed", boundary: "environment", message: "broken" } as const;
  const experience = { trajectories: [{ ...attempt, end }], units: [] };
  assert.deepEqual(await judgedOutcome(scorer("e", async () => 1))(ctxOf({}), experience, {}), []);
});
