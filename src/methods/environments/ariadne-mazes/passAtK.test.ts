import assert from "node:assert/strict";
import { test } from "node:test";
import { crossing, highestUnseen, passAtK, passCurve } from "./passAtK.ts";

test("passAtK: by hand", () => {
  // 1 − C(3, 2)/C(5, 2) = 1 − 3/10
  assert.ok(Math.abs(passAtK({ tried: 5, right: 2 }, 2) - 0.7) < 1e-12);
  assert.ok(Math.abs(passAtK({ tried: 10, right: 3 }, 1) - 0.3) < 1e-12);
  assert.equal(passAtK({ tried: 4, right: 0 }, 4), 0);
  assert.equal(passAtK({ tried: 4, right: 2 }, 3), 1); // only two are wrong
  assert.ok(Number.isNaN(passAtK({ tried: 4, right: 2 }, 5)));
});

test("passAtK: unbiased: its mean over all outcomes of n attempts is the chance with k", () => {
  const [n, k, p] = [6, 3, 0.3];
  let expected = 0;
  for (let outcomes = 0; outcomes < 2 ** n; outcomes++) {
    const right = outcomes.toString(2).replaceAll("0", "").length;
    expected += p ** right * (1 - p) ** (n - right) * passAtK({ tried: n, right }, k);
  }
  assert.ok(Math.abs(expected - (1 - (1 - p) ** k)) < 1e-12);
});

test("passCurve and crossing", () => {
  const ks = [1, 2, 4];
  const curve = passCurve(
    [
      { tried: 4, right: 1 },
      { tried: 4, right: 0 },
    ],
    ks,
  );
  // (1/4 + 0)/2, (1/2 + 0)/2, (1 + 0)/2
  for (const [i, x] of [0.125, 0.25, 0.5].entries()) assert.ok(Math.abs(curve[i]! - x) < 1e-12);
  assert.equal(crossing([0.1, 0.3, 0.9], [0.5, 0.5, 0.5], ks), 4);
  assert.equal(crossing([0.1, 0.2, 0.3], [0.5, 0.5, 0.5], ks), undefined);
  assert.equal(crossing([0.6, 0.7, 0.8], [0.5, 0.5, 0.5], ks), undefined); // never ahead
});

test("highestUnseen: 1 − 0.05^(1/64)", () => {
  assert.ok(Math.abs(highestUnseen(64) - 0.0457) < 1e-4);
  assert.ok(Math.abs(highestUnseen(1) - 0.95) < 1e-12);
});
