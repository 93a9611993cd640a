import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { durationWeighted } from "./durationWeighted.ts";

const turn = (seconds?: number) => turnOf([1], [2, 3], seconds === undefined ? {} : { rewards: { seconds } });

function apply(durations: Readonly<Record<string, readonly (number | undefined)[]>>, each = 1) {
  const trajectories = Object.entries(durations).map(([id, own]) => trajectoryOf(id, own.map(turn)));
  const annotated: AnnotatedExperience = { ...evidenceOf([]), trajectories };
  const soFar = new Map(trajectories.map((t) => [t.id, new Float32Array(2 * t.turns.length).fill(each)]));
  const { advantages, stats } = durationWeighted().apply(annotated, null, soFar);
  return { values: Object.fromEntries([...advantages].map(([id, xs]) => [id, [...xs]])), stats };
}

test("durationWeighted: by each action's time over the mean, token by token", () => {
  // mean of 1, 2, 9 is 4
  const { values, stats } = apply({ a: [1, 2], b: [9] }, 2);
  assert.deepEqual(values, { a: [0.5, 0.5, 1, 1], b: [4.5, 4.5] });
  assert.equal(stats.seconds, 4);
});

test("durationWeighted: unknown durations keep what they have, and so does a batch without any time", () => {
  assert.deepEqual(apply({ a: [2], b: [undefined], c: [6] }).values, {
    a: [0.5, 0.5],
    b: [1, 1],
    c: [1.5, 1.5],
  });
  assert.deepEqual(apply({ a: [0], b: [0] }).values, { a: [1, 1], b: [1, 1] });
  assert.deepEqual(apply({ a: [undefined] }), { values: { a: [1, 1] }, stats: {} });
});

test("durationWeighted: only what has an advantage counts in the mean, and nothing before it is nothing after", () => {
  const evidence = {
    ...evidenceOf([]),
    trajectories: [trajectoryOf("a", [turn(2)]), trajectoryOf("b", [turn(8)])],
  };
  const soFar = new Map([["a", Float32Array.of(3, 3)]]);
  const { advantages } = durationWeighted().apply(evidence, null, soFar);
  assert.deepEqual([...advantages], [["a", Float32Array.of(3, 3)]]);
  assert.equal(durationWeighted().apply(evidence, null, undefined).advantages.size, 0);
});

test("durationWeighted undoes what a window does: n(x) ∝ π(x)/Δt(x) becomes π(x)", () => {
  // π = 1/4 for 1 s, 3/4 for 3 s: 1/4 : 1/4 arrive, so one of each; weighted, their totals are 1/4 : 3/4 of 2
  const { values } = apply({ quick: [1], long: [3] });
  assert.deepEqual(values, { quick: [0.5, 0.5], long: [1.5, 1.5] });
});
