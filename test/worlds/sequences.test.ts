import assert from "node:assert/strict";
import { test } from "node:test";
import { allSequences } from "../../src/env/oneReply.ts";
import { isHard, type Pay, sequences } from "../../src/worlds/sequences.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => sequences(), { garbage: 0.1 });

const tallies = (pay: Pay, seed = 1) => {
  const env = sequences({ questions: 4, length: 3, vocabulary: 5, pay, seed });
  return env.tasks("train").map((task) => {
    const pays = env.all.map((answer) => env.payOf(task, answer));
    return { env, task, pays, shown: env.payOf(task, env.expert!(task, [], never)) };
  });
};
const never = {
  next: () => Number.NaN,
  below: () => Number.NaN,
  normal: () => Number.NaN,
  split: () => never,
  seed: 0,
};

test("all sequences, the last word changing fastest", () => {
  assert.deepEqual(allSequences(["a", "b"], 2), ["a a", "a b", "b a", "b b"]);
});

test("right: the share asked for pays 1, another one at each question", () => {
  const all = tallies({ kind: "right", share: 0.2 });
  for (const { pays, shown } of all) {
    assert.equal(pays.filter((p) => p === 1).length, 25);
    assert.equal(pays.filter((p) => p === 0).length, 100);
    assert.equal(shown, 1);
  }
  assert.notDeepEqual(all[0]!.pays, all[1]!.pays);
});

test("sum: an answer pays the mean of its words' worth at their places", () => {
  for (const { env, task, pays, shown } of tallies({ kind: "sum" })) {
    const at = (text: string): number => env.payOf(task, text);
    // words at different places do not disturb each other
    assert.ok(Math.abs(at("w1 w0 w0") + at("w0 w2 w0") - at("w0 w0 w0") - at("w1 w2 w0")) < 1e-12);
    assert.equal(shown, Math.max(...pays));
    assert.equal(env.bestPay(task), shown);
    assert.ok(pays.every((p) => p >= 0 && p <= 1));
  }
});

test("uneven: one answer at hard questions; at easy ones the expert knows a second-rate one", () => {
  for (const { task, pays, shown } of tallies({ kind: "uneven", share: 0.24 })) {
    const count = (value: number): number => pays.filter((p) => p === value).length;
    assert.deepEqual([count(1), count(0.6)], isHard(task) ? [1, 0] : [10, 20]);
    assert.equal(shown, isHard(task) ? 1 : 0.6);
  }
});

test("texts that are no answer pay nothing", () => {
  const env = sequences();
  const task = env.tasks("test")[0]!;
  for (const text of ["", "w0", "w0 w0 w0 w0", "q1", "constructor"]) assert.equal(env.payOf(task, text), 0);
});
