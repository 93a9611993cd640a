import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task } from "../../src/core/types.ts";
import { answerDiversity, diversityOf, taskDiversity } from "../../src/diagnose/diversity.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const said = (id: string, task: string, content: string, more = {}) =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], { task, ...more });
const task = (id: string, content: string): Task => ({
  id,
  prompt: [{ role: "user", content }],
  metadata: {},
  seed: 1,
});

test("answers: 1 where none are alike, 0 where all are, and the mean over tasks", () => {
  const different = ["x", "y", "z"].map((answer, i) => said(`a${i}`, "a", answer));
  const alike = ["x", " x", "x\n"].map((answer, i) => said(`b${i}`, "b", answer));
  assert.equal(answerDiversity(different), 1);
  assert.equal(answerDiversity(alike), 0);
  assert.equal(answerDiversity([...different, ...alike]), 0.5);
  // two of three answers: (2 − 1) / (3 − 1)
  assert.equal(answerDiversity([...alike.slice(1), said("c", "b", "y")]), 0.5);
});

test("answers: demonstrations, failures and single attempts say nothing", () => {
  assert.equal(answerDiversity([]), undefined);
  assert.equal(answerDiversity([said("a", "a", "x"), said("b", "b", "y")]), undefined);
  const failed = { end: { kind: "failed", boundary: "environment", message: "" } };
  const none = [said("b", "a", "y", { origin: "demonstrated" }), said("c", "a", "y", failed)];
  assert.equal(answerDiversity([said("a", "a", "x"), ...none]), undefined);
  // roles of one task are not compared with each other
  assert.equal(answerDiversity([said("a", "a", "x"), said("b", "a", "y", { role: "other" })]), undefined);
});

test("tasks: 1 − shared words over all words, mean over pairs", () => {
  // a b | b c: 1 of 3 shared; a b | a b: all; b c | a b: 1 of 3
  const tasks = [task("1", "a b"), task("2", "b c"), task("3", "a b")];
  assert.ok(Math.abs(taskDiversity(tasks)! - (2 / 3 + 0 + 2 / 3) / 3) < 1e-12);
  assert.equal(taskDiversity(tasks.slice(0, 1)), undefined);
});

test("diversityOf: given tasks are no proposals, and what is not known is absent", () => {
  const given = [task("1", "a"), task("2", "b")];
  assert.deepEqual(diversityOf([], given, given), {});
  assert.deepEqual(diversityOf([], [...given, task("3", "a"), task("4", "c")], given), {
    "diversity.proposals": 1,
  });
  assert.deepEqual(diversityOf([said("a", "1", "x"), said("b", "1", "x")], given, given), {
    "diversity.answers": 0,
  });
});
