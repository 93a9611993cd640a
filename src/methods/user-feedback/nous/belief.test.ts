import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { beliefEntropy, uniformBelief, updated } from "./belief.ts";

const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-12, `${got}, not ${want}`);

const belief = uniformBelief({ size: ["s", "m", "l", "xl"], colour: ["red", "blue"] });

test("entropies of independent slots add up, and each answer takes its part away", () => {
  near(beliefEntropy(belief), Math.log(4) + Math.log(2));
  const half = updated(belief, "size", [1, 1, 0, 0]); // narrowed from 4 to 2
  near(beliefEntropy(half), 2 * Math.log(2));
  near(beliefEntropy(updated(half, "size", [0, 1, 1, 1])), Math.log(2)); // resolved
  assert.deepEqual(Object.keys(half), ["size", "colour"]);
});

test("a noisy answer is weighed by Bayes' rule, and can leave more doubt than there was", () => {
  // 0.9 · 0.2 against 0.1 · 0.8: odds 18 to 8
  const sure = { light: Float64Array.of(0.9, 0.1) };
  const doubtful = updated(sure, "light", [0.2, 0.8]);
  near(doubtful.light?.[0] ?? Number.NaN, 18 / 26);
  assert.ok(beliefEntropy(doubtful) > beliefEntropy(sure));
});

test("a contradiction, an answer about nothing, and one about no slot teach nothing", () => {
  const known = updated(belief, "colour", [1, 0]);
  assert.equal(updated(known, "colour", [0, 1]), known);
  assert.equal(updated(belief, "shape", [1, 0]), belief);
  assert.equal(updated(belief, "constructor", [1, 0]), belief);
  assert.equal(beliefEntropy({}), 0);
});

test("on average over answers an honest update never adds doubt", () => {
  const likelihood = fc.array(fc.double({ min: 0.01, max: 0.99, noNaN: true }), {
    minLength: 4,
    maxLength: 4,
  });
  const prior = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(prior, likelihood, (counts, yes) => {
      const total = counts.reduce((a, b) => a + b, 0);
      const before = { it: Float64Array.from(counts, (n) => n / total) };
      const chance = yes.reduce((sum, p, v) => sum + p * before.it[v]!, 0);
      const no = yes.map((p) => 1 - p);
      const after =
        chance * beliefEntropy(updated(before, "it", yes)) +
        (1 - chance) * beliefEntropy(updated(before, "it", no));
      assert.ok(after <= beliefEntropy(before) + 1e-12);
    }),
    { seed: 1 },
  );
});
