import assert from "node:assert/strict";
import { test } from "node:test";
import { navigationScores } from "./navigation.ts";

test("navigationScores: by hand", () => {
  const journeys = [
    { success: true, steps: 4, shortest: 4, strayed: false },
    { success: true, steps: 8, shortest: 4, strayed: true },
    { success: false, steps: 2, shortest: 4, strayed: true },
    { success: true, steps: 3, shortest: 4, strayed: false }, // fewer steps than a shortest way has are no more than 1
  ];
  // (1 + ½ + 0 + 1) / 4; of the two that strayed, one arrived
  assert.deepEqual(navigationScores(journeys), { success: 0.75, spl: 0.625, recovery: 0.5 });
  assert.ok(Number.isNaN(navigationScores(journeys.slice(0, 1)).recovery));
});
