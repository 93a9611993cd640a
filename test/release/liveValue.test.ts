import assert from "node:assert/strict";
import { test } from "node:test";
import { liveValue } from "../../src/release/evaluation.ts";
import type { UnitData } from "../../src/release/liveData.ts";

/** Fourteen thumbs up and one down, for the version that answered half of the traffic. */
const closed = Array.from(
  { length: 15 },
  (_, i): UnitData => ({
    unit: `s${i}`,
    version: "tuned",
    propensity: 0.5,
    first: i,
    measures: {},
    reward: i === 0 ? 0 : 1,
  }),
);

test("a mean of thumbs has an interval within what a thumb can be", () => {
  const free = liveValue(closed, "tuned", undefined)!.interval;
  assert.ok(Math.abs(free.mean - 14 / 15) < 1e-12);
  assert.ok(free.high > 1, `${free.high}`);
  const thumbs = liveValue(closed, "tuned", [0, 1])!.interval;
  assert.deepEqual(thumbs, { ...free, high: 1 });
});

test("without a unit of the version there is no value", () => {
  assert.equal(liveValue(closed, "base", [0, 1]), undefined);
});
