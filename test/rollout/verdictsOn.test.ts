import assert from "node:assert/strict";
import { test } from "node:test";
import type { Able } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import { succeeded, type Trajectory } from "../../src/core/types.ts";
import { balancedAttempts, verdictsOn } from "../../src/rollout/verdictsOn.ts";
import { ctxWith, trajectoryOf, turnOf } from "../core/make.ts";

const attempt = (id: string, success: boolean): Trajectory =>
  trajectoryOf(id, [turnOf([1], [2])], { end: { kind: "done", reason: "said", success } });

/** Calls everything right the first time, and says nothing after that. */
const writer = (): Able<"critique"> => {
  const asked = new Map<string, number>();
  return {
    name: "writer",
    critique: async ({ trajectory: { id } }) => {
      const before = asked.get(id) ?? 0;
      asked.set(id, before + 1);
      const written = trajectoryOf("written", [turnOf([1], [3])], { role: "critiquer" });
      return { text: "", written, ...(before === 0 ? { outcome: "success" as const } : {}) };
    },
  };
};

test("judgements alone are returned, a group for each attempt, paid for truth; no verdict is a wrong one", async () => {
  const attempts = [attempt("good", true), attempt("bad", false)];
  const options = { writer: writer(), groupSize: 2, temperature: 1 };
  const { trajectories, units, stats } = await verdictsOn(ctxWith({}), attempts, options);
  assert.deepEqual(
    units.map(({ group, members: [id] }) => [
      group,
      trajectories.find((t) => t.id === id)!.turns[0]!.rewards.rating,
    ]),
    [
      ["good", 1],
      ["good", 0],
      ["bad", 0],
      ["bad", 0],
    ],
  );
  assert.equal(trajectories.length, 4);
  assert.deepEqual(stats, { "verdict.right": 0.5, "verdict.wrong": 0, "label.right": 0.5 });
  const none = await verdictsOn(ctxWith({}), [], options);
  assert.deepEqual([none.units, none.trajectories, none.stats], [[], [], {}]);
});

test("as many right as wrong attempts; an odd one may be either; a kind that is short bounds the other", () => {
  const many = Array.from({ length: 10 }, (_, i) => attempt(`${i}`, i < 7));
  const chosen = (count: number, seed: number, all = many) => {
    const found = balancedAttempts(all, count, randomStream(seed));
    assert.equal(new Set(found.map(({ id }) => id)).size, found.length);
    const right = found.filter(succeeded).length;
    return [right, found.length - right];
  };
  assert.deepEqual(chosen(4, 1), [2, 2]);
  assert.deepEqual(chosen(0, 1), [0, 0]);
  assert.deepEqual(chosen(20, 1), [4, 3]);
  const odd = Array.from({ length: 40 }, (_, seed) => chosen(3, seed)[0]!);
  assert.deepEqual(new Set(odd), new Set([1, 2]));
  assert.deepEqual(chosen(4, 1, many.slice(0, 5)), [1, 0]);
});
