import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../../core/errors.ts";
import { rankCorrelation, reactionChange } from "./reactionChange.ts";

test("reactionChange: the mean of differences prompt by prompt, with its t interval", () => {
  // differences 0.1, 0.2, 0.3: mean 0.2, deviation 0.1, half width 4.303 · 0.1 / √3 = 0.248
  const change = reactionChange([0.5, 0.3, 0.9], [0.4, 0.1, 0.6]);
  assert.ok(Math.abs(change.mean - 0.2) < 1e-12);
  assert.ok(Math.abs(change.low - (0.2 - 0.2484)) < 1e-3);
  assert.ok(Math.abs(change.high - (0.2 + 0.2484)) < 1e-3);
});

test("rankCorrelation is worked by hand", () => {
  // ranks 1 2 3 4 and 1 3 2 4: 1 − 6 · 2 / (4 · 15) = 0.8
  assert.ok(Math.abs(rankCorrelation([1, 2, 30, 400], [0.1, 0.3, 0.2, 0.9]) - 0.8) < 1e-12);
  // ranks 1.5 1.5 3 and 1 2 3: Σxy = 1.5, Σxx = 1.5, Σyy = 2
  assert.ok(Math.abs(rankCorrelation([1, 1, 2], [1, 2, 3]) - 1.5 / Math.sqrt(3)) < 1e-12);
  assert.equal(rankCorrelation([3, 2, 1], [1, 2, 3]), -1);
  assert.ok(Number.isNaN(rankCorrelation([1, 1], [1, 2])));
  assert.throws(
    () => rankCorrelation([1], []),
    (e) => isWhetstoneError(e) && e.code === "shape.mismatch",
  );
});
