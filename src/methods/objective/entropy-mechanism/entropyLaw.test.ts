import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { entropyChange, fitEntropyLaw } from "./entropyLaw.ts";

const near = (got: number, want: number, by: number): void =>
  assert.ok(Math.abs(got - want) <= by, `${got}, expected ${want}`);

test("fitEntropyLaw finds the law that made the points", () => {
  const law = fitEntropyLaw(
    [2, 1, 0.5, 0.1].map((entropy) => ({ entropy, reward: 1.1 - 0.1 * Math.exp(entropy) })),
  );
  near(law.a, 0.1, 1e-12);
  near(law.b, 1.1, 1e-12);
  near(law.ceiling, 1, 1e-12);
  near(law.r2, 1, 1e-12);
});

test("fitEntropyLaw is worked by hand off the law", () => {
  // x = e^H = 1, 2, 3; y = 3, 3, 0: x̄ = 2, ȳ = 2, Sxy = −1 · 1 + 0 + 1 · −2 = −3, Sxx = 2, Syy = 6
  // slope −1.5: a = 1.5, b = 2 + 3 = 5, ceiling 3.5, r² = 9 / 12
  const law = fitEntropyLaw(
    [
      [1, 3],
      [2, 3],
      [3, 0],
    ].map(([x, reward]) => ({ entropy: Math.log(x!), reward: reward! })),
  );
  near(law.a, 1.5, 1e-12);
  near(law.b, 5, 1e-12);
  near(law.ceiling, 3.5, 1e-12);
  near(law.r2, 0.75, 1e-12);
});

test("fitEntropyLaw knows nothing from one entropy", () => {
  assert.ok(Number.isNaN(fitEntropyLaw([{ entropy: 1, reward: 0.5 }]).a));
});

test("entropyChange is what one small step does, for the plain and the natural gradient", () => {
  const policy = fc.array(
    fc.record({
      logit: fc.double({ min: -2, max: 2, noNaN: true }),
      reward: fc.double({ min: -1, max: 1, noNaN: true }),
    }),
    { minLength: 2, maxLength: 8 },
  );
  const softmax = (logits: readonly number[]): number[] => {
    const total = logits.reduce((sum, x) => sum + Math.exp(x), 0);
    return logits.map((x) => Math.exp(x) / total);
  };
  const entropy = (logits: readonly number[]): number =>
    softmax(logits).reduce((sum, p) => sum - p * Math.log(p), 0);
  fc.assert(
    fc.property(policy, (actions) => {
      const logits = actions.map((x) => x.logit);
      const p = softmax(logits);
      const value = actions.reduce((sum, x, i) => sum + p[i]! * x.reward, 0);
      const advantage = actions.map((x) => x.reward - value);
      const logp = p.map(Math.log);
      for (const gradient of ["plain", "natural"] as const) {
        // ∂J/∂z = π A; the natural gradient on a softmax moves each logit by A
        const direction = advantage.map((A, i) => (gradient === "plain" ? p[i]! * A : A));
        const at = (rate: number): number => entropy(logits.map((z, i) => z + rate * direction[i]!));
        const rate = 1e-4;
        const slope = (at(rate) - at(-rate)) / 2;
        near(entropyChange(logp, advantage, rate, gradient), slope, 1e-10);
      }
    }),
    { seed: 1, numRuns: 100 },
  );
});
