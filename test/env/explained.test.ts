import assert from "node:assert/strict";
import { test } from "node:test";
import { explained } from "../../src/env/explained.ts";
import { wordle } from "../../src/env/wordle/wordle.ts";
import { isSuccess, play } from "./play.ts";

test("explained: the rules come first, and nothing else changes", async () => {
  const plain = wordle({ answers: ["cat", "cot", "dog", "cut", "pen"] });
  const told = explained(plain, "Find the word.");
  for (const [i, task] of told.tasks("train").entries()) {
    const [rules, ...rest] = task.prompt;
    assert.deepEqual(rules, { role: "system", content: "Find the word." });
    assert.deepEqual({ ...task, prompt: rest }, plain.tasks("train")[i]);
    assert.ok(isSuccess(await play(told, task, told.expert!)));
  }
  assert.deepEqual(told.vocabulary?.(), [...plain.vocabulary!(), "Find the word."]);
});
