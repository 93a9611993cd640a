// Whether a gap between sampling and training is one of rounding is told from its distribution.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gapSpread, gapSums, isGapSum } from "../../src/common/statistics/gaps.ts";
import { addStats } from "../../src/common/statistics/stats.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Stats } from "../../src/core/types.ts";
import { requireSmallGap } from "../../src/train/logpGap.ts";

const random = randomStream(1).split("gaps");
/** Gaps as rounding makes them: the size of a normal number. */
const rounding = (count: number, deviation: number): number[] =>
  Array.from({ length: count }, () => Math.abs(deviation * random.normal()));

const statsOf = (gaps: readonly number[], noise = 1.1e-5): Stats => ({
  ...gapSums("loss.logpGap", gaps),
  "loss.logpGap.noise.max": noise,
});

test("sums of parts add up to the distribution of the whole", () => {
  const gaps = [...rounding(20_000, 1e-5), 1.5e-4];
  const added: Stats = {};
  for (let at = 0; at < gaps.length; at += 700) addStats(added, gapSums("logpGap", gaps.slice(at, at + 700)));
  const spread = gapSpread("logpGap", added)!;
  const sorted = [...gaps].sort((a, b) => a - b);
  const p999 = sorted[Math.floor(0.999 * sorted.length)]!;
  assert.equal(spread.tokens, gaps.length);
  assert.ok(Math.abs(spread.mean - gaps.reduce((a, b) => a + b) / gaps.length) < 1e-12);
  assert.ok(spread.p999 >= p999 && spread.p999 <= Math.SQRT2 * p999, `${spread.p999} for ${p999}`);
  assert.equal(spread.largest, 1.5e-4);
  assert.equal(gapSpread("logpGap", {}), undefined);
  assert.equal(gapSpread("logpGap", gapSums("logpGap", [])), undefined);
  for (const key of Object.keys(added)) assert.equal(isGapSum("logpGap", key), key !== "logpGap.max", key);
});

test("a healthy deep model's tail is no fault, and neither is a single token of a short reply", () => {
  requireSmallGap(statsOf([...rounding(10_688, 1.1e-5), 1.5e-4]));
  requireSmallGap(statsOf([...rounding(10_688, 1.1e-5), 5e-3, 2e-3]));
  requireSmallGap(statsOf([9e-4, 1e-6]));
  requireSmallGap(statsOf([]));
  requireSmallGap({});
});

test("a gap of the whole distribution, of its tail, or one that is no number is a fault", () => {
  const fails = (stats: Stats): void =>
    assert.throws(() => requireSmallGap(stats), /log-probabilities of the same .* differ by/);
  fails(statsOf(rounding(5000, 0.01))); // as from weights of half the precision
  fails(statsOf([...rounding(9900, 1e-5), ...rounding(100, 0.05)])); // one token of a hundred is off
  fails(statsOf([1e-6, Number.NaN, 1e-6]));
  fails(statsOf(rounding(500, 4e-3)));
  // two layers round less than thirty
  fails(statsOf(rounding(5000, 1e-3), 2.8e-6));
});
