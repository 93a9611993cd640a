import assert from "node:assert/strict";
import { test } from "node:test";
import { givesAway } from "../../src/core/givesAway.ts";

test("givesAway: the answer as words of their own, however they are spaced", () => {
  assert.ok(givesAway("it is  the\ncapital Rome .", "capital Rome"));
  assert.ok(givesAway("7", "7"));
  assert.ok(!givesAway("it is 17 , not 70", "7"));
  assert.ok(!givesAway("Rome is the capital", "capital Rome"));
});

test("givesAway: as a teacher would write it, in a sentence", () => {
  assert.ok(givesAway("No. It is Rome, of course.", "rome"));
  assert.ok(givesAway('you meant "7"!', "7"));
  assert.ok(givesAway("- the capital is **Rome**, and `7` is prime", "rome, and 7"), "as models write");
  assert.ok(givesAway("add them: (3 + 4).", "3 + 4"));
  assert.ok(!givesAway("more than 7.5, less than -7", "7"), "marks within or before a number are part of it");
  assert.ok(givesAway("a ? b", "?"), "an answer of marks alone");
});

test("givesAway: nothing to give away", () => {
  assert.ok(!givesAway("anything", undefined));
  assert.ok(!givesAway("any thing", " "));
});
