import assert from "node:assert/strict";
import { test } from "node:test";
import { answers, rightOf } from "../../src/worlds/answers.ts";

test("answers: variants are asked alike, apart from other questions, and have right words of their own", () => {
  const tasks = answers({ questions: 6, variants: 3 }).tasks("train");
  assert.deepEqual(
    tasks.map((t) => t.prompt[0]!.content),
    ["q0", "q0", "q0", "q3", "q3", "q3"],
  );
  assert.equal(new Set(tasks.map((t) => rightOf(t).join(" "))).size, 6);
});

test("answers: variants change neither the right words nor the questions asked once", () => {
  const [one, three] = [answers({ questions: 6 }), answers({ questions: 6, variants: 3 })];
  assert.deepEqual(one.tasks("train").map(rightOf), three.tasks("train").map(rightOf));
  assert.deepEqual(
    one.tasks("test").map((t) => t.prompt[0]!.content),
    ["q6", "q7", "q8", "q9", "q10", "q11"],
  );
});
