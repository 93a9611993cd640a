import assert from "node:assert/strict";
import { test } from "node:test";
import { pairedShareInterval } from "../../../src/common/statistics/pairedShares.ts";

const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) <= 1e-6, `got ${got}, expected ${want}`);

test("pairedShareInterval agrees with the formula of Newcombe (1998), method 10, worked in another language", () => {
  for (const [both, gained, lost, neither, mean, low, high] of [
    [20, 12, 2, 16, 0.2, 0.05615642484174829, 0.32920699540014053],
    [1, 3, 1, 2, 0.2857142857142857, -0.21440598789361998, 0.638623208006962],
    [10, 0, 0, 10, 0, -0.08975665937768057, 0.08975665937768049],
  ] as const) {
    const interval = pairedShareInterval({ both, gained, lost, neither });
    near(interval.mean, mean);
    near(interval.low, low);
    near(interval.high, high);
    assert.equal(interval.n, both + gained + lost + neither);
  }
});

test("where all is gained, or all is lost, the interval has a width and stays within a difference of shares", () => {
  const up = pairedShareInterval({ both: 0, gained: 10, lost: 0, neither: 0 });
  near(up.mean, 1);
  near(up.low, 0.6075093504305242);
  assert.equal(up.high, 1);
  const down = pairedShareInterval({ both: 0, gained: 0, lost: 10, neither: 0 });
  assert.deepEqual([down.mean, down.low], [-1, -1]);
  near(down.high, -0.6075093504305242);
});
