import assert from "node:assert/strict";
import { test } from "node:test";
import { topLabel } from "./topLabel.ts";

const of = (score: number, label: boolean) => ({ score, label });

test("topLabel: the label of the best of each task, the first of equals", () => {
  // best: 0.9 right, 0.7 wrong, the first 0.5 right: 2 of 3
  const tasks = [
    [of(0.2, false), of(0.9, true)],
    [of(0.7, false), of(0.6, true)],
    [of(0.5, true), of(0.5, false)],
    [],
  ];
  assert.ok(Math.abs(topLabel(tasks) - 2 / 3) < 1e-12);
  assert.ok(Number.isNaN(topLabel([])));
});
