import assert from "node:assert/strict";
import { test } from "node:test";
import { leaksAnswer } from "../../../src/common/text/leaksAnswer.ts";

test("leaksAnswer: the answer as words of their own, however they are spaced", () => {
  assert.ok(leaksAnswer("it is  the\ncapital Rome .", "capital Rome"));
  assert.ok(leaksAnswer("7", "7"));
  assert.ok(!leaksAnswer("it is 17 , not 70", "7"));
  assert.ok(!leaksAnswer("Rome is the capital", "capital Rome"));
});

test("leaksAnswer: as a teacher would write it, in a sentence", () => {
  assert.ok(leaksAnswer("No. It is Rome, of course.", "rome"));
  assert.ok(leaksAnswer('you meant "7"!', "7"));
  assert.ok(leaksAnswer("- the capital is **Rome**, and `7` is prime", "rome, and 7"), "as models write");
  assert.ok(leaksAnswer("add them: (3 + 4).", "3 + 4"));
  assert.ok(
    !leaksAnswer("more than 7.5, less than -7", "7"),
    "marks within or before a number are part of it",
  );
  assert.ok(leaksAnswer("a ? b", "?"), "an answer of marks alone");
});

test("leaksAnswer: in scripts without blanks", () => {
  assert.ok(leaksAnswer("日本の首都は東京です。", "東京"));
  assert.ok(leaksAnswer("答案是“北京”。", "北京"));
  assert.ok(leaksAnswer("수도는 서울입니다.", "서울"));
  assert.ok(leaksAnswer("เมืองหลวงคือกรุงเทพ", "กรุงเทพ"));
  assert.ok(!leaksAnswer("京都は東にある", "東京"));
  assert.ok(leaksAnswer("答えは42です", "42"));
  assert.ok(!leaksAnswer("答えは142です", "42"));
});

test("leaksAnswer: nothing to give away", () => {
  assert.ok(!leaksAnswer("anything", undefined));
  assert.ok(!leaksAnswer("any thing", " "));
});
