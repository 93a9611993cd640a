import assert from "node:assert/strict";
import { test } from "node:test";
import { turnOf } from "../../../../test/core/make.ts";
import { patternFactors, usualPatterns, wordFactors } from "./factors.ts";

const said = (text?: string) => turnOf([1], [2], text === undefined ? {} : { text });

test("patternFactors counts matches, beside a constant", () => {
  const factors = patternFactors({ light: /light/, digits: /\d+/g });
  assert.deepEqual(factors(said("light 12 light 7 x")), { turn: 1, light: 2, digits: 2 });
  assert.deepEqual(factors(said("light 12 light 7 x")), { turn: 1, light: 2, digits: 2 }); // no memory
  assert.deepEqual(factors(said()), { turn: 1, light: 0, digits: 0 });
});

test("usualPatterns tell gain from harm from nothing", () => {
  const factors = patternFactors(usualPatterns);
  assert.deepEqual(factors(said("Correct: door opened")), { turn: 1, gain: 2, harm: 0, idle: 0 });
  assert.deepEqual(factors(said("error: failed")), { turn: 1, gain: 0, harm: 2, idle: 0 });
  assert.deepEqual(factors(said("Nothing happens. lightning")), { turn: 1, gain: 0, harm: 0, idle: 1 });
});

test("wordFactors leave nothing out", () => {
  assert.deepEqual(wordFactors(said("light n3  n3")), { turn: 1, "word light": 1, "word n3": 2 });
  assert.deepEqual(wordFactors(said()), { turn: 1 });
});
