import assert from "node:assert/strict";
import { test } from "node:test";
import { betaOf, divergenceAt, entropic, entropicAdvantages } from "../../src/advantage/entropic.ts";
import { evidenceOf } from "../core/make.ts";

const near = (x: number, y: number, by = 1e-6): void => assert.ok(Math.abs(x - y) <= by, `${x}, not ${y}`);
const outlier = (n: number): number[] => [1, ...Array.from({ length: n - 1 }, () => 0)];
const advantagesOf = (rewards: readonly number[]) =>
  entropicAdvantages(rewards, betaOf(rewards, Math.log(2)));

test("the temperature gives the group a divergence of ln 2, whatever the scale of its rewards", () => {
  const rewards = [0.1, 0.4, 0.2, 0.9];
  near(divergenceAt(rewards, betaOf(rewards, Math.log(2))), Math.log(2), 1e-9);
  near(
    betaOf(
      rewards.map((r) => 1000 * r + 5),
      Math.log(2),
    ) * 1000,
    betaOf(rewards, Math.log(2)),
    1e-6,
  );
  // two rewards: q = p, 1 − p with p ln 2p + (1 − p) ln 2(1 − p) = ln 2 only where p = 1
  assert.equal(betaOf([0, 1], Math.log(2) + 1e-12), 1e6);
});

test("one outlier among K gets what the paper's rule gives it, and the others lose", () => {
  for (const [n, most] of [
    [8, 10.8],
    [16, 13.3],
    [64, 27.8],
  ] as const) {
    const [first, ...others] = advantagesOf(outlier(n));
    near(first!, most, 0.05);
    assert.ok(others.every((a) => a < -0.3 && a > -1));
  }
});

test("ties at the top cap the divergence, and equal rewards teach nothing", () => {
  const tied = advantagesOf([1, 1, 1, 0]);
  // winners (K − 1)/(m − 1) − 1 = 0.5, the loser −1
  for (const a of tied.slice(0, 3)) near(a, 0.5);
  near(tied[3]!, -1);
  assert.deepEqual(advantagesOf([2, 2, 2]), [0, 0, 0]);
  assert.deepEqual(advantagesOf([3]), [0]);
});

test("the piece spreads a unit's advantage over its tokens, and reports the temperature", () => {
  const annotated = evidenceOf([[0, 0, 1, 0]]);
  const { advantages, stats } = entropic().apply(annotated, null, undefined);
  const wanted = advantagesOf([0, 0, 1, 0]);
  for (const [k, { members }] of annotated.units.entries())
    near(advantages.get(members[0]!)![0]!, wanted[k]!, 1e-5);
  assert.ok(stats.beta! > 0);
});
