import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Task } from "../../../core/types.ts";
import { ruleTree, ruleValues, webRules } from "./ruleTree.ts";

const task: Task = { id: "task", prompt: [], metadata: { milestones: ["b", "c"] }, seed: 1 };
const turn = (stateKey: string, content: string, text?: string) =>
  turnOf([1], [2], {
    stateKey,
    action: { role: "assistant", content },
    ...(text !== undefined && { text }),
  });

/** What each step is, beside it. */
const t = trajectoryOf("t", [
  turn("a", "go"), // to b: a milestone, +0.3
  turn("b", "fill", "error : no field"), // refused: −0.5
  turn("b", "fill", "error : no field"), // the same again: −0.5, whatever else
  turn("b", "jump", "invalid : what"), // −1
  turn("b", "wait"), // nothing changes, for the first time: 0
  turn("b", "back"), // to a: +0.1
  turn("a", "go"), // to b again: no milestone any more, +0.1
  turn("b", "out", "away : elsewhere"), // to x: −0.5
  turn("x", "home"), // to c: +0.3
  turn("c", "send"), // the end: 0
]);

test("ruleValues: the first rule that holds counts, and milestones count once", () => {
  assert.deepEqual([...ruleValues(webRules, task, t)], [0.3, -0.5, -0.5, -1, 0, 0.1, 0.1, -0.5, 0.3, 0]);
});

test("ruleValues: rules of one's own, in their order; without keys nothing is known to change", () => {
  const rules = [
    {
      name: "go",
      value: 2,
      when: ({ turn: { action } }: { turn: { action: { content: string } } }) => action.content === "go",
    },
    { name: "any", value: 1, when: () => true },
  ];
  assert.deepEqual([...ruleValues(rules, task, t)].slice(0, 3), [2, 1, 1]);
  const keyless = trajectoryOf("k", [turnOf([1], [2]), turnOf([1], [2])]);
  assert.deepEqual([...ruleValues(webRules, { ...task, metadata: {} }, keyless)], [0, 0]);
});

test("ruleTree: mean, sum and each turn, times the weight; failures are silent", async () => {
  const failed = trajectoryOf("f", t.turns, {
    end: { kind: "failed", boundary: "environment", message: "broken" },
  });
  const signals = (per: "mean" | "sum" | "turn") =>
    ruleTree({ per, weight: 0.5 })(ctxOf({ task: () => task }), { trajectories: [t, failed], units: [] }, {});
  const values = async (per: "mean" | "sum" | "turn") =>
    (await signals(per)).map((s) => (s.kind === "reward" ? Number(s.value.toFixed(9)) : Number.NaN));
  // the sum is 0.3 − 0.5 − 0.5 − 1 + 0.1 + 0.1 − 0.5 + 0.3 = −1.7, over 10 steps
  assert.deepEqual(await values("mean"), [-0.085]);
  assert.deepEqual(await values("sum"), [-0.85]);
  assert.deepEqual((await values("turn")).slice(0, 4), [0.15, -0.25, -0.25, -0.5]);
  assert.deepEqual((await signals("turn"))[3]!.about, [{ trajectory: "t", turn: 3 }]);
});
