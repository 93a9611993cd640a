import assert from "node:assert/strict";
import { test } from "node:test";
import {
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
  sequentialVerdict,
  studentCdf,
  studentQuantile,
  wilsonInterval,
} from "../../../src/common/statistics/statistics.ts";

const near = (got: number, want: number, tolerance: number): void =>
  assert.ok(Math.abs(got - want) <= tolerance, `got ${got}, expected ${want} ± ${tolerance}`);

test("studentQuantile agrees with the printed t table", () => {
  const table = [
    [0.95, 1, 6.314],
    [0.975, 1, 12.706],
    [0.975, 4, 2.776],
    [0.975, 7, 2.365],
    [0.975, 19, 2.093],
    [0.975, 30, 2.042],
    [0.995, 10, 3.169],
    [0.9995, 2, 31.599],
    [0.975, 1e9, 1.96],
  ] as const;
  for (const [p, degrees, t] of table) near(studentQuantile(p, degrees), t, 5.1e-4);
});

test("studentQuantile inverts studentCdf and is odd", () => {
  for (const p of [0.01, 0.2, 0.5, 0.7, 0.99]) near(studentCdf(studentQuantile(p, 5), 5), p, 1e-12);
  near(studentQuantile(0.1, 3), -studentQuantile(0.9, 3), 1e-12);
});

test("wilsonInterval agrees with the examples of Newcombe (1998), method 3", () => {
  for (const [x, n, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const got = wilsonInterval(x, n);
    near(got.low, low, 5.1e-5);
    near(got.high, high, 5.1e-5);
  }
  assert.deepEqual(wilsonInterval(5, 5).high, 1);
  assert.deepEqual([wilsonInterval(0, 0).low, wilsonInterval(0, 0).high], [0, 1]);
});

test("meanInterval is worked by hand for 1, 2, 3, 4", () => {
  // mean 2.5, s = 1.29099, t(0.975, 3) = 3.18245, half = 3.18245 · 1.29099 / 2 = 2.05425
  const got = meanInterval([1, 2, 3, 4]);
  near(got.low, 0.44575, 1e-4);
  near(got.high, 4.55425, 1e-4);
  assert.equal(meanInterval([3]).high, Number.POSITIVE_INFINITY);
});

test("pairedInterval sees only the differences and refuses unpaired runs", () => {
  const got = pairedInterval([11, 22, 33], [10, 21, 32]);
  assert.deepEqual([got.mean, got.low, got.high], [1, 1, 1]);
  assert.throws(() => pairedInterval([1, 2], [1]), /Pair the runs by seed/);
});

test("probabilityOfImprovement counts ties half", () => {
  // of 4 pairs: 2 > 1, 2 = 2, 3 > 1, 3 > 2
  assert.equal(probabilityOfImprovement([2, 3], [1, 2]), 3.5 / 4);
});

test("sequentialVerdict reproduces, refutes, and asks for the second look", () => {
  const hypothesis = { direction: "higher", smallestEffect: 0.1 } as const;
  const around = (centre: number, n: number, width: number): number[] =>
    Array.from({ length: n }, (_, i) => centre + (i % 2 === 0 ? width : -width));
  assert.equal(sequentialVerdict(around(0.3, 8, 0.05), hypothesis).verdict, "reproduced");
  assert.equal(sequentialVerdict(around(0, 8, 0.05), hypothesis).verdict, "not reproduced");
  const open = sequentialVerdict(around(0.1, 8, 0.5), hypothesis);
  assert.deepEqual([open.verdict, open.extendTo], ["inconclusive", 20]);
  const last = sequentialVerdict(around(0.1, 20, 0.5), hypothesis);
  assert.deepEqual([last.verdict, last.extendTo], ["inconclusive", undefined]);
  // surely above 0, but surely smaller than what is of interest
  assert.equal(sequentialVerdict(around(0.05, 8, 0.01), hypothesis).verdict, "not reproduced");
  const lower = { direction: "lower", smallestEffect: 0.1 } as const;
  assert.equal(sequentialVerdict(around(-0.3, 8, 0.05), lower).verdict, "reproduced");
  assert.equal(sequentialVerdict(around(0.3, 8, 0.05), lower).verdict, "not reproduced");
  assert.throws(() => sequentialVerdict([1, 2, 3], hypothesis), /planned/);
});

test("sequentialVerdict: with no effect of interest, equal runs are not reproduced", () => {
  const none = new Float64Array(8);
  assert.equal(sequentialVerdict(none, { direction: "higher", smallestEffect: 0 }).verdict, "not reproduced");
});
