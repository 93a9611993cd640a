import assert from "node:assert/strict";
import { test } from "node:test";
import { rankCorrelation } from "../../../src/common/statistics/rankCorrelation.ts";
import { isWhetstoneError } from "../../../src/core/errors.ts";

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
