import assert from "node:assert/strict";
import { test } from "node:test";
import type { Evaluation } from "../../src/store/runStore.ts";
import { successAfter } from "../../src/store/successAfter.ts";

const evaluated = (more: Partial<Evaluation>): Evaluation => ({
  split: "test",
  mode: "sampled",
  when: "after",
  iteration: 9,
  tasks: 10,
  trainedShare: 0,
  reward: 1,
  turns: 1,
  failed: 0,
  seconds: 1,
  success: { mean: 0.5, low: 0.2, high: 0.8, n: 10 },
  ...more,
});

test("what a run came to: after it, held-out before validation, and sampled actions where there are any", () => {
  const [before, validation, greedy, sampled] = [
    evaluated({ when: "before", iteration: 0 }),
    evaluated({ split: "validation" }),
    evaluated({ mode: "greedy" }),
    evaluated({}),
  ] as const;
  assert.equal(successAfter([before, validation, greedy, sampled]), sampled);
  assert.equal(successAfter([before, greedy]), greedy);
  assert.equal(successAfter([before, validation]), validation);
  assert.equal(successAfter([before]), undefined);
});
