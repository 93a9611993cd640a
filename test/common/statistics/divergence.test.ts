import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type DivergenceKind, divergenceAt } from "../../../src/common/statistics/divergence.ts";

const kinds: readonly DivergenceKind[] = [
  "forward",
  "reverse",
  { jensenShannon: 0.5 },
  { jensenShannon: 0.2 },
  { softened: 5 },
];
const logs = (ps: readonly number[]): Float64Array => Float64Array.from(ps, Math.log);
const near = (got: number, expected: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - expected) <= within, `${got}, expected ${expected}`);

test("numbers by hand, with a bucket for the rest", () => {
  // p = (1/2, 1/4 | 1/4), q = (1/4, 1/4 | 1/2)
  const [p, q] = [logs([0.5, 0.25]), logs([0.25, 0.25])];
  // KL(q ‖ p) = ¼ ln ½ + 0 + ½ ln 2 = ¼ ln 2; KL(p ‖ q) = ½ ln 2 + 0 − ¼ ln 2 = ¼ ln 2
  near(divergenceAt("forward", p, q).value, Math.LN2 / 4);
  near(divergenceAt("reverse", p, q).value, Math.LN2 / 4);
  // m = (3/8, 1/4 | 3/8): ½ (½ ln 4/3 + ¼ ln 2/3) + ½ (¼ ln 2/3 + ½ ln 4/3) = ½ ln 4/3 + ¼ ln 2/3
  near(divergenceAt({ jensenShannon: 0.5 }, p, q).value, 0.5 * Math.log(4 / 3) + 0.25 * Math.log(2 / 3));
  // forward: −q[j] + p[j] q[tail] / p[tail] = −1/4 + (1/2)(1/2)/(1/4) = 3/4 and −1/4 + (1/4)(1/2)/(1/4) = 1/4
  assert.deepEqual([...divergenceAt("forward", p, q).slope_K], [0.75, 0.25]);
});

test("softened: over the ids alone, at their own temperature, times its square", () => {
  // p = (8/9, 1/9), q = (1/2, 1/2); at T = 3 cube roots: p̃ = (2/3, 1/3), q̃ = (1/2, 1/2)
  const [p, q] = [logs([8 / 9, 1 / 9]), logs([0.5, 0.5])];
  const { value, slope_K } = divergenceAt({ softened: 3 }, p, q);
  near(value, 9 * 0.5 * (Math.log(3 / 4) + Math.log(3 / 2)));
  near(slope_K[0]!, 3 * (2 / 3 - 1 / 2));
  near(slope_K[1]!, 3 * (1 / 3 - 1 / 2));
  // a common factor is no matter: nothing is said of the other ids
  near(divergenceAt({ softened: 3 }, logs([8 / 90, 1 / 90]), q).value, value);
  // what neither ever says is silent
  const never = [Math.log(0.5), Math.log(0.5), Number.NEGATIVE_INFINITY];
  assert.deepEqual(divergenceAt({ softened: 5 }, never, never), {
    value: 0,
    slope_K: Float64Array.of(0, 0, 0),
  });
});

test("never negative, and 0 without slope where both agree", () => {
  const share = fc.double({ min: 0.01, max: 0.24, noNaN: true });
  const distribution = fc.array(share, { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(distribution, distribution, fc.constantFrom(...kinds), (ps, qs, kind) => {
      assert.ok(divergenceAt(kind, logs(ps), logs(qs)).value > -1e-12);
      const same = divergenceAt(kind, logs(ps), logs(ps));
      near(same.value, 0, 1e-12);
      // p[j] (x − x) with the bucket on either side, but for rounding
      for (const slope of same.slope_K) near(slope, 0, 1e-12);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test("slopes are those of the value", () => {
  const share = fc.double({ min: 0.02, max: 0.22, noNaN: true });
  const distribution = fc.array(share, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(distribution, distribution, fc.constantFrom(...kinds), (ps, qs, kind) => {
      const [p, q] = [logs(ps), logs(qs)];
      const { slope_K } = divergenceAt(kind, p, q);
      p.forEach((x, j) => {
        const at = (d: number): number => divergenceAt(kind, p.with(j, x + d), q).value;
        near(slope_K[j]!, (at(1e-6) - at(-1e-6)) / 2e-6, 1e-6);
      });
    }),
    { seed: 2, numRuns: 100 },
  );
});

test("what one of the two never says costs what the formula says", () => {
  const never = -1e9;
  // over the whole vocabulary, p = (1, 0), q = (1/2, 1/2): reverse = ln 2; Jensen–Shannon is finite
  const p = Float64Array.of(0, never);
  const q = logs([0.5, 0.5]);
  near(divergenceAt("reverse", p, q).value, Math.LN2, 1e-5);
  // m = (3/4, 1/4): ½ ln 4/3 + ½ (½ ln 2/3 + ½ ln 2)
  near(
    divergenceAt({ jensenShannon: 0.5 }, p, q).value,
    0.5 * Math.log(4 / 3) + 0.25 * Math.log(2 / 3) + 0.25 * Math.LN2,
    1e-5,
  );
  // what neither says counts nothing
  near(divergenceAt("forward", Float64Array.of(0, never), Float64Array.of(0, never)).value, 0);
  // and what the student never says, but the teacher does, is dear
  assert.ok(divergenceAt("forward", p, q).value > 1e8);
});

/** Rise of Σ π r by a natural step down a divergence's slope in the logits: the step moves π by minus that slope. */
function riseOf(
  kind: DivergenceKind,
  r: readonly number[],
  pi: readonly number[],
  q: readonly number[],
): number {
  const { slope_K } = divergenceAt(kind, logs(pi), logs(q));
  const mass = slope_K.reduce((sum, x) => sum + x, 0);
  return -r.reduce((sum, reward, j) => sum + reward * (slope_K[j]! - pi[j]! * mass), 0);
}
const worth = (r: readonly number[], p: readonly number[]): number =>
  r.reduce((sum, x, j) => sum + x * p[j]!, 0);

test("forwards, a natural step rises by what the teacher is better; backwards it may fall towards a better teacher", () => {
  const weight = fc.double({ min: 0.05, max: 1, noNaN: true });
  const distribution = fc
    .array(weight, { minLength: 3, maxLength: 3 })
    .map((ws) => ws.map((w) => w / ws.reduce((a, b) => a + b, 0)));
  const rewards = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(rewards, distribution, distribution, (r, pi, q) => {
      near(riseOf("forward", r, pi, q), worth(r, q) - worth(r, pi), 1e-5);
    }),
    { seed: 3, numRuns: 100 },
  );
  // the covariance under π of r and ln q/π, with ln .08/.54 = −1.91, ln .91/.01 = 4.51, ln .01/.45 = −3.81:
  // .01 · .5 · 4.51 − .45 · 3.81 − .455 · (−.54 · 1.91 + .01 · 4.51 − .45 · 3.81) = −1.691 + .455 · 2.699 = −0.462
  const [r, pi, q] = [
    [0, 0.5, 1],
    [0.54, 0.01, 0.45],
    [0.08, 0.91, 0.01],
  ];
  assert.ok(worth(r!, q!) > worth(r!, pi!));
  near(riseOf("reverse", r!, pi!, q!), -0.4624, 1e-3);
});
