import assert from "node:assert/strict";
import { test } from "node:test";
import { givesAway } from "../../../src/common/text/leaksAnswer.ts";

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

test("givesAway: in scripts without blanks", () => {
  assert.ok(givesAway("日本の首都は東京です。", "東京"));
  assert.ok(givesAway("答案是“北京”。", "北京"));
  assert.ok(givesAway("수도는 서울입니다.", "서울"));
  assert.ok(givesAway("เมืองหลวงคือกรุงเทพ", "กรุงเทพ"));
  assert.ok(!givesAway("京都は東にある", "東京"));
  assert.ok(givesAway("答えは42です", "42"));
  assert.ok(!givesAway("答えは142です", "42"));
});

test("givesAway: nothing to give away", () => {
  assert.ok(!givesAway("anything", undefined));
  assert.ok(!givesAway("any thing", " "));
});
