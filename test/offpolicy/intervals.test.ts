import assert from "node:assert/strict";
import { test } from "node:test";
import { coverage } from "../../bench/coverage.ts";
import { regimes } from "../../bench/offpolicy/regimes.ts";
import { meanInterval } from "../../src/common/statistics/statistics.ts";
import { randomStream } from "../../src/core/random.ts";
import { lowerBound } from "../../src/offpolicy/betting.ts";
import { estimateValue, sayEstimate } from "../../src/offpolicy/estimate.ts";
import { boundedInterval, clusterInterval, standardError } from "../../src/offpolicy/intervals.ts";
import { ips } from "../../src/offpolicy/ips.ts";
import { paretoShape, paretoTail } from "../../src/offpolicy/paretoTail.ts";
import type { Sample } from "../../src/offpolicy/sample.ts";
import { snips } from "../../src/offpolicy/snips.ts";
import { unskewed } from "../../src/offpolicy/unskewed.ts";

const close = (got: number, expected: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - expected) <= within, `${got}, not ${expected}`);
const rewarded = (rewards: readonly number[], ratio: (i: number) => number = () => 1): Sample[] =>
  rewards.map((reward, i) => ({ cluster: `${i}`, ratios: [ratio(i)], rewards: [reward] }));

test("symmetric rewards, equal weights, no clusters: Student's interval", () => {
  const rewards = [1, 2, 3, 4, 5, 6];
  const { low, high } = clusterInterval(rewarded(rewards), ips(rewarded(rewards)));
  const student = meanInterval(rewards);
  close(low, student.low);
  close(high, student.high);
});

test("a long tail to the right moves both ends to the right", () => {
  const samples = rewarded([0, 0, 0, 1, 0, 0, 1, 0, 0, 9]);
  const { low, high, mean } = clusterInterval(samples, ips(samples));
  assert.ok(high - mean > mean - low);
});

test("unskewed is the inverse of its transform, and nothing without skewness", () => {
  const there = (t: number, a: number): number => t + (a * t ** 2) / 3 + (a ** 2 * t ** 3) / 27 + a / 6;
  for (const a of [-0.6, -0.1, 0.2, 1])
    for (const x of [-3, -1.96, 0, 2.5]) close(there(unskewed(x, a), a), x);
  assert.equal(unskewed(1.96, 0), 1.96);
  close(unskewed(1.96, 1e-5), 1.96, 1e-4);
});

test("copies within a cluster are no evidence", () => {
  const once = rewarded([1, 3, 2, 5, 4, 4]);
  const thrice = once.flatMap((s) => [s, s, s]);
  const error = (samples: Sample[]): number =>
    standardError(
      ips(samples),
      samples.map((s) => s.cluster),
    );
  close(error(thrice), error(once));
  assert.ok(error(rewarded([1, 3, 2, 5, 4, 4].flatMap((r) => [r, r, r]))) < 0.7 * error(once));
});

test("lowerBound: by hand for one observation, and within the observations", () => {
  // λ = min(√(2 ln 2 / (¼ · 1)), ½ / m) = ½ / m for m < 0.21; the capital 1 + ½ (1 − m) / m reaches 2 at m = ⅓, where λ = 1.5
  close(lowerBound([1], 0.5, 1), 1 / 3, 1e-6);
  assert.equal(lowerBound([0, 0, 0], 0.05), 0);
  const draws = Array.from({ length: 500 }, (_, i) => randomStream(3).split(i).next());
  const fixed = lowerBound(draws, 0.025, 500);
  assert.ok(fixed > 0.4 && fixed < 0.5 && lowerBound(draws, 0.025) < fixed, `${fixed}`);
  assert.throws(() => lowerBound([-1], 0.05), { code: "option.range" });
});

test("lowerBound errs at most α of the time, also with weights of heavy tail", () => {
  const random = randomStream(8);
  let above = 0;
  for (let i = 0; i < 400; i++) {
    // W = 20 with probability 1/20, times a coin: mean ½
    const xs = Array.from({ length: 60 }, () => (random.next() < 0.05 && random.next() < 0.5 ? 20 : 0));
    above += Number(lowerBound(xs, 0.1, xs.length) > 0.5);
  }
  assert.ok(above / 400 <= 0.1 + 3 * Math.sqrt(0.09 / 400), `${above} of 400`);
});

test("paretoTail finds the shape of Pareto weights and calls equal ones tailless", () => {
  const tail = (k: number): number => {
    const random = randomStream(4);
    return paretoTail(Array.from({ length: 4000 }, () => (1 - random.next()) ** -k))!;
  };
  close(tail(0.3), 0.3, 0.15);
  close(tail(0.9), 0.9, 0.15);
  assert.equal(
    paretoTail(Array.from({ length: 100 }, (_, i) => (i % 10 === 0 ? 10 : 0))),
    Number.NEGATIVE_INFINITY,
  );
  assert.equal(paretoTail([1, 2, 3]), undefined);
  // of 1,000 quantiles of an exponential distribution, whose k is 0
  close(paretoShape(Array.from({ length: 1000 }, (_, i) => -Math.log(1 - (i + 0.5) / 1000))), 0, 0.03);
});

test("diagnostics by hand", () => {
  // weights 4 and, thrice, 0: mean 1, all on one cluster
  const heavy = estimateValue(rewarded([1, 0, 1, 0], (i) => (i === 0 ? 4 : 0)));
  assert.equal(heavy.diagnostics.effective, 1);
  assert.equal(heavy.diagnostics.meanWeight, 1);
  assert.equal(heavy.diagnostics.heaviest, 1);
  assert.equal(heavy.trusted, false);
  assert.match(sayEstimate(heavy), /not to be trusted: 1 of 4 users or sessions carry half of the weight/);
  // (3 + 1)² / (9 + 1)
  close(estimateValue(rewarded([1, 0], (i) => [3, 1][i]!)).diagnostics.effective, 1.6);
  const nothing = estimateValue(rewarded([1, 0], () => 0));
  assert.deepEqual(nothing.doubts, ["the target policy would have taken none of the logged actions"]);
  const missing = estimateValue(
    rewarded(
      Array.from({ length: 300 }, (_, i) => i % 2),
      (i) => (i % 3 === 0 ? 0 : 0.75),
    ),
  );
  assert.match(missing.doubts.join(), /average 0.50, not 1: about 50 % of what the target does/);
});

test("equal weights and enough rewards are trusted, rewards that hardly ever come are not", () => {
  const good = estimateValue(rewarded(Array.from({ length: 200 }, (_, i) => i % 2)), { range: [0, 1] });
  assert.equal(good.trusted, true);
  assert.equal(sayEstimate(good), "0.5 [0.43, 0.57]");
  assert.ok(good.bounded!.low < good.interval.low && good.bounded!.high > good.interval.high);
  assert.equal(
    estimateValue(rewarded(Array.from({ length: 200 }, (_, i) => (i === 7 ? 1 : 0)))).trusted,
    false,
  );
  assert.equal(estimateValue(rewarded(Array.from({ length: 200 }, () => 0))).trusted, false);
});

test("the bounded interval holds where half of the target was never logged", () => {
  // the target's unlogged half always earns 1, the logged half ½: value ¾
  const samples = rewarded(
    Array.from({ length: 400 }, (_, i) => (i >> 1) % 2),
    (i) => (i % 2 === 0 ? 1 : 0),
  );
  const { low, high } = boundedInterval(samples, [0, 1]);
  assert.ok(low < 0.25 && high > 0.75);
  assert.ok(snips(samples).value === 0.5);
});

test("nominal 95 % intervals hold the truth 90 to 98 % of the time where they are trusted", () => {
  for (const name of ["one turn, good overlap", "few: 80 trajectories"]) {
    const found = coverage(regimes.find((r) => r.name === name)!, 60, 7);
    for (const estimator of ["ips", "snips", "weightedPerDecision"]) {
      // 60 simulations: three standard errors of 0.95 are 0.084
      assert.ok(
        found[estimator]!.heldTrusted > 0.86,
        `${name}: ${estimator} ${found[estimator]!.heldTrusted}`,
      );
    }
    assert.ok(found.bounded!.held >= 0.95);
  }
});
