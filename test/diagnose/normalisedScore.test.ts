import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../src/core/errors.ts";
import { normalisedScore } from "../../src/diagnose/normalisedScore.ts";

const marks = { random: -50, data: -10, best: -5 };

test("normalisedScore: 0 at random play, 50 at the data, 100 at the best, straight in between and beyond", () => {
  const scores = [-50, -10, -5].map((value) => normalisedScore(value, marks));
  assert.deepEqual(scores, [0, 50, 100]);
  assert.equal(normalisedScore(-30, marks), 25); // half the way from −50 to −10
  assert.equal(normalisedScore(-7.5, marks), 75); // half the way from −10 to −5
  assert.equal(normalisedScore(-4, marks), 110);
});

test("normalisedScore: a scale that does not rise is refused", () => {
  for (const wrong of [
    { ...marks, data: -50 },
    { ...marks, best: -20 },
    { ...marks, random: Number.NaN },
  ])
    assert.throws(
      () => normalisedScore(0, wrong),
      (e) => isWhetstoneError(e) && e.code === "option.range",
    );
});
