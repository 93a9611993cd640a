import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { apply, near, obeys } from "../../../../test/advantage/laws.ts";
import { evidenceOf } from "../../../../test/core/make.ts";
import { asymmetric } from "./asymmetric.ts";

obeys("asymmetric", () => asymmetric(), ["permutes", "deadIsZero", "loneIsZero"]);

test("asymmetric is worked by hand", () => {
  // p = 1/4, std = √3/4: a = √3, −1/√3 thrice. m = 1/4: easy a/(2 · 1/2) = a, hard a/(2 · 1/2) = a; positives × 1/4
  const root = Math.sqrt(3);
  near(apply(asymmetric(), [[1, 0, 0, 0]]), [[root / 4, -1 / root, -1 / root, -1 / root]], 1e-5);
  // the same at full size from a quarter of success on
  near(apply(asymmetric({ full: 0.25 }), [[1, 0, 0, 0]]), [[root, -1 / root, -1 / root, -1 / root]], 1e-5);
});

test("asymmetric: the clock is the mean of the groups' means, dead groups among them", () => {
  const { stats } = asymmetric().apply(
    evidenceOf([
      [1, 1],
      [1, 0, 0, 0],
    ]),
    null,
    undefined,
  );
  assert.ok(Math.abs(stats.progress! - 0.625) < 1e-12);
});

test("without focus and at full size it is the group advantage: zero sum, and Σ|a| = 2G √(p(1 − p))", () => {
  const rewards = fc.array(fc.constantFrom(0, 1), { minLength: 2, maxLength: 9 });
  fc.assert(
    fc.property(rewards, (group) => {
      const G = group.length;
      const p = group.reduce<number>((a, b) => a + b, 0) / G;
      const values = apply(asymmetric({ focus: "none", full: 1e-9 }), [group])[0]!;
      assert.ok(Math.abs(values.reduce((a, b) => a + b, 0)) < 1e-4);
      const size = values.reduce((a, b) => a + Math.abs(b), 0);
      assert.ok(Math.abs(size - 2 * G * Math.sqrt(p * (1 - p))) < 1e-4);
    }),
    { seed: 5, numRuns: 50 },
  );
});
