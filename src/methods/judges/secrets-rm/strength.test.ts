import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { crossFittedStrengths, treatedLabels } from "./strength.ts";

test("no model judges a pair that it was fitted to, and every member judges every pair", () => {
  let fits = 0;
  const strengths = crossFittedStrengths(9, 5, randomStream(1), (some) => {
    const [seen, own] = [new Set(some), fits++];
    return (pair) => {
      assert.ok(!seen.has(pair));
      // the two models of member m say m
      return own >> 1;
    };
  });
  assert.equal(fits, 10);
  // 0 … 4: mean 2, deviation √2
  for (const { mean, deviation } of strengths) {
    assert.ok(Math.abs(mean - 2) < 1e-12);
    assert.ok(Math.abs(deviation - Math.SQRT2) < 1e-12);
  }
});

test("the weakest are flipped if clearly negative, the next are doubted, the others must be ahead", () => {
  const means = [2, -1, -0.1, -3, 0, 0.5, 1, 3, 4, 5];
  const strengths = means.map((mean) => ({ mean, deviation: mean === -1 ? 2 : 0.05 }));
  const treated = treatedLabels(strengths);
  assert.deepEqual(
    treated.map(({ flipped }) => flipped),
    means.map((mean) => mean === -3),
  );
  // rank 2 is −0.1, rank 3 is 0: σ(0.1) is above ½
  assert.deepEqual(
    treated.map(({ doubt }) => doubt),
    means.map((mean) => (mean === -0.1 || mean === 0 ? 0.5 : 0)),
  );
  assert.deepEqual(
    treated.map(({ margin }) => margin),
    [2, 0, 0, 3, 0, 0.5, 1, 3, 4, 5],
  );
  const soft = treatedLabels(strengths, { flip: 0, soft: 0.6, margins: false });
  assert.ok(soft.every(({ flipped, margin }) => !flipped && margin === 0));
  assert.ok(Math.abs(soft[5]!.doubt - 1 / (1 + Math.exp(0.5))) < 1e-12);
});
