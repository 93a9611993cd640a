import assert from "node:assert/strict";
import { test } from "node:test";
import { givesAway } from "../../src/core/givesAway.ts";

test("givesAway: the answer as words of their own, however they are spaced", () => {
  assert.ok(givesAway("it is  the\ncapital Rome .", "capital Rome"));
  assert.ok(givesAway("7", "7"));
  assert.ok(!givesAway("it is 17 , not 70", "7"));
  assert.ok(!givesAway("Rome is the capital", "capital Rome"));
});

test("givesAway: nothing to give away", () => {
  assert.ok(!givesAway("anything", undefined));
  assert.ok(!givesAway("any thing", " "));
});
