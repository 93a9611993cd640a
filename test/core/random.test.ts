import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream, shuffled } from "../../src/core/random.ts";

const draws = (n: number, next: () => number): number[] => Array.from({ length: n }, next);

test("randomStream repeats itself and keeps numbers and texts apart", () => {
  assert.deepEqual(draws(5, randomStream(7).next), draws(5, randomStream(7).next));
  assert.notDeepEqual(draws(5, randomStream(7).next), draws(5, randomStream("7").next));
  assert.notEqual(randomStream(1).split(1, 2).seed, randomStream(1).split(12).seed);
});

test("split depends on the path alone, not on what was drawn", () => {
  const random = randomStream(3);
  const before = random.split("a", 1).next();
  random.next();
  assert.equal(random.split("a", 1).next(), before);
});

test("next is uniform: a chi-squared test over 64 bins", () => {
  const random = randomStream(11);
  const bins = new Array<number>(64).fill(0);
  const n = 64_000;
  for (let i = 0; i < n; i++) bins[random.below(64)]!++;
  const expected = n / 64;
  const chi = bins.reduce((sum, b) => sum + (b - expected) ** 2 / expected, 0);
  assert.ok(chi > 30 && chi < 117, `chi² ${chi} with 63 degrees`); // 0.01 % tails
});

test("sibling streams are uncorrelated, also in their first draws", () => {
  const root = randomStream(5);
  let sum = 0;
  const n = 20_000;
  for (let k = 0; k < n; k++) sum += (root.split(k).next() - 0.5) * (root.split(k + 1).next() - 0.5);
  assert.ok(Math.abs(sum / n) < (5 * (1 / 12)) / Math.sqrt(n));
});

test("seeds of many children do not collide more than chance", () => {
  const root = randomStream(0);
  const seeds = new Set(Array.from({ length: 20_000 }, (_, k) => root.split("episode", k).seed));
  assert.ok(seeds.size > 19_990);
});

test("normal has mean 0 and variance 1", () => {
  const random = randomStream(2);
  const xs = draws(20_000, random.normal);
  const mean = xs.reduce((a, b) => a + b) / xs.length;
  const variance = xs.reduce((a, b) => a + b * b, 0) / xs.length;
  assert.ok(Math.abs(mean) < 0.04 && Math.abs(variance - 1) < 0.05);
});

test("shuffled is a permutation in which every place is equally likely", () => {
  const root = randomStream(9);
  const first = [0, 0, 0, 0];
  for (let k = 0; k < 8000; k++) {
    const order = shuffled([0, 1, 2, 3], root.split(k));
    assert.deepEqual([...order].sort(), [0, 1, 2, 3]);
    first[order[0]!]!++;
  }
  for (const count of first) assert.ok(Math.abs(count - 2000) < 200);
});
