import assert from "node:assert/strict";
import { test } from "node:test";
import { reactionChange } from "./reactionChange.ts";

test("reactionChange: the mean of differences prompt by prompt, with its t interval", () => {
  // differences 0.1, 0.2, 0.3: mean 0.2, deviation 0.1, half width 4.303 · 0.1 / √3 = 0.248
  const change = reactionChange([0.5, 0.3, 0.9], [0.4, 0.1, 0.6]);
  assert.ok(Math.abs(change.mean - 0.2) < 1e-12);
  assert.ok(Math.abs(change.low - (0.2 - 0.2484)) < 1e-3);
  assert.ok(Math.abs(change.high - (0.2 + 0.2484)) < 1e-3);
});
