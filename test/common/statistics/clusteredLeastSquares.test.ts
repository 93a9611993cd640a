import assert from "node:assert/strict";
import { test } from "node:test";
import { clusteredLeastSquares } from "../../../src/common/statistics/clusteredLeastSquares.ts";
import { leastSquares, standardDeviation } from "../../../src/common/statistics/statistics.ts";
import { randomStream } from "../../../src/core/random.ts";

const near = (actual: number, expected: number, within = 1e-9): void =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual}, expected ${expected}`);

test("clusteredLeastSquares of a column of ones is the mean, with its usual standard error", () => {
  const ys = [1, 4, 2, 7, 3];
  const fit = clusteredLeastSquares(
    ys.map(() => [1]),
    ys,
    ["a", "b", "c", "d", "e"],
  )!;
  near(fit.coefficients[0]!, 3.4);
  near(fit.errors[0]!, standardDeviation(ys) / Math.sqrt(5));
});

test("clusteredLeastSquares finds a line as leastSquares does, and planted coefficients without noise exactly", () => {
  const random = randomStream(1);
  const xs = Array.from({ length: 40 }, () => random.normal());
  const zs = Array.from({ length: 40 }, () => random.normal());
  const ys = xs.map((x) => 2 + 3 * x + random.normal());
  const clusters = xs.map((_, i) => String(i));
  const line = clusteredLeastSquares(
    xs.map((x) => [1, x]),
    ys,
    clusters,
  )!;
  near(line.coefficients[1]!, leastSquares(xs, ys).slope);
  const exact = clusteredLeastSquares(
    xs.map((x, i) => [1, x, zs[i]!]),
    xs.map((x, i) => 1 - 2 * x + 5 * zs[i]!),
    clusters,
  )!;
  [1, -2, 5].forEach((b, k) => {
    near(exact.coefficients[k]!, b);
    near(exact.errors[k]!, 0);
  });
});

test("clusteredLeastSquares: copies within a cluster add no certainty; without clusters they would", () => {
  const ys = [1, 4, 2, 7, 3];
  const rows = ys.map(() => [1]);
  const names = ["a", "b", "c", "d", "e"];
  const once = clusteredLeastSquares(rows, ys, names)!;
  const twice = clusteredLeastSquares([...rows, ...rows], [...ys, ...ys], [...names, ...names])!;
  near(twice.errors[0]!, once.errors[0]!);
  const apart = clusteredLeastSquares([...rows, ...rows], [...ys, ...ys], [...names, ..."fghij"])!;
  assert.ok(apart.errors[0]! < 0.8 * once.errors[0]!);
});

test("clusteredLeastSquares has no answer where columns depend on each other, or hang on one cluster", () => {
  const clusters = ["a", "b", "c", "d"];
  const twins = [1, 2, 3, 4].map((x) => [x, 2 * x]);
  assert.equal(clusteredLeastSquares(twins, [1, 2, 3, 5], clusters), undefined);
  const single = [0, 0, 0, 1].map((x) => [1, x]);
  assert.equal(clusteredLeastSquares(single, [1, 2, 3, 5], clusters), undefined);
  assert.equal(clusteredLeastSquares([[1]], [1], ["a"]), undefined);
});
