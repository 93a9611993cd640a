import assert from "node:assert/strict";
import { test } from "node:test";
import { metrics } from "../../src/release/guardrails.ts";
import { boundWords, measureWords } from "../../web/src/parts/guardrailWords.ts";

test("a rate is a percentage, and a time a time", () => {
  for (const [name, { most }] of Object.entries(metrics))
    assert.equal(measureWords(name, 0.042).endsWith("%"), most === 1, name);
  assert.equal(measureWords("errors", 0.042), "4.2 %");
  assert.equal(measureWords("latency", 350.4), "350 ms");
  assert.equal(measureWords("latency", 2500), "2.5 s");
  assert.equal(measureWords("length", 120), "120 characters");
  assert.equal(measureWords("mine", null), "–");
});

test("a bound says what it is relative to", () => {
  assert.equal(boundWords("errors", "+0.05"), "5 points above the baseline");
  assert.equal(boundWords("flags", "+0.01"), "1 point above the baseline");
  assert.equal(boundWords("feedback", "-0.1"), "10 points below the baseline");
  assert.equal(boundWords("latency", "x1.5"), "1.5 × the baseline");
  assert.equal(boundWords("errors", "0.02"), "2 %");
  assert.equal(boundWords("mine", "other"), "other");
});
