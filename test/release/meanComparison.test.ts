import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { capital } from "../../src/release/capital.ts";
import { boundedComparison, unboundedComparison } from "../../src/release/meanComparison.ts";
import { asymptoticHalfWidth, moments } from "../../src/release/moments.ts";

const close = (got: number, expected: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - expected) <= within, `${got}, not ${expected}`);
const equal = (m: number): number => m;

test("capital: by hand for one observation", () => {
  // λ = √(2 ln 2 / (¼ · 8)) = 0.833; at m = ½ a 1 pays 1 + 0.833 · ½; at m = 1 the stake is ½ / 1 and the win 0
  const money = capital(0.5, 4, () => 8);
  money.see(1);
  const bet = Math.sqrt((2 * Math.log(2)) / (0.25 * 8));
  close(money.above(2), Math.log(1 + bet / 2));
  close(money.above(4), 0);
  // who bet on a mean below ½ has lost as much; below 1: the stake is unlimited by m, 1 − λ · 0
  close(money.below(2), Math.log(1 - bet / 2));
  assert.equal(money.n, 1);
  assert.equal(money.mean, 1);
  assert.throws(() => money.see(1.1), { code: "option.range" });
});

test("capital falls in m from below and rises from above, also after many observations", () => {
  const money = capital(0.2, 50, () => 100);
  const random = randomStream(1);
  for (let i = 0; i < 500; i++) money.see(random.next());
  for (let j = 0; j < 50; j++) {
    assert.ok(money.above(j) >= money.above(j + 1) - 1e-9);
    assert.ok(money.below(j) <= money.below(j + 1) + 1e-9);
  }
  assert.ok(money.above(20) > 5 && money.below(20) < 0, "0.4 is shown to be too low");
});

/** Coins with these chances, dealt to the arms in turn. */
function play(
  arms: ReturnType<typeof boundedComparison>,
  a: number,
  b: number,
  n: number,
  seed: number,
): void {
  const random = randomStream(seed);
  for (let i = 0; i < n; i++) {
    arms.see("candidate", random.next() < a ? 1 : 0);
    arms.see("baseline", random.next() < b ? 1 : 0);
  }
}

for (const [name, make] of [
  ["bounded", () => boundedComparison(0.025, 200)],
  ["unbounded", unboundedComparison],
] as const) {
  test(`${name}: a difference is shown on its side alone, and the interval holds it`, () => {
    const arms = make();
    play(arms, 0.7, 0.5, 800, 2);
    assert.ok(arms.shown("above", equal, 0.025));
    assert.ok(!arms.shown("below", equal, 0.025));
    // relative limits: 0.7 is above 1.1 · 0.5, and below 2 · 0.5
    assert.ok(arms.shown("above", (m) => 1.1 * m, 0.025));
    assert.ok(!arms.shown("above", (m) => 1.6 * m, 0.025));
    assert.ok(arms.shown("below", (m) => 2 * m, 0.025));
    assert.ok(arms.shown("below", () => 0.8, 0.025) && !arms.shown("below", () => 0.65, 0.025));
    const { low, high, mean } = arms.difference(0.05);
    assert.ok(low > 0 && low < 0.2 && high > 0.2 && low < mean && mean < high, `[${low}, ${high}]`);
  });

  test(`${name}: nothing is said of few, and looking at nothing does no harm`, () => {
    const arms = make();
    assert.ok(!arms.shown("above", equal, 0.025) && !arms.shown("below", equal, 0.025));
    const { low, high } = arms.difference(0.05);
    assert.ok(low <= -1 && high >= 1);
    play(arms, 0.6, 0.5, 10, 3);
    assert.ok(!arms.shown("above", equal, 0.025));
  });
}

test("bounded: rare events are compared exactly", () => {
  const arms = boundedComparison(0.025, 1000);
  play(arms, 0.08, 0.01, 600, 4);
  assert.ok(arms.shown("above", (m) => m + 0.01, 0.025));
  assert.ok(!arms.shown("above", (m) => m + 0.12, 0.025));
});

test("bounded: equal arms are told apart in at most α of all tests, looking again and again", () => {
  let wrong = 0;
  const tests = 120;
  for (let i = 0; i < tests; i++) {
    const arms = boundedComparison(0.025, 50);
    const random = randomStream(9).split(i);
    for (let k = 0; k < 300; k++) {
      arms.see(random.next() < 0.3 ? "candidate" : "baseline", random.next() < 0.4 ? 1 : 0);
      if (arms.shown("above", equal, 0.025) || arms.shown("below", equal, 0.025)) {
        wrong++;
        break;
      }
    }
  }
  assert.ok(wrong / tests <= 0.05, `${wrong} of ${tests}`);
});

test("moments by hand, and the mixture's boundary", () => {
  const m = moments();
  for (const x of [2, 4, 9]) m.see(x);
  close(m.mean, 5);
  close(m.variance, 13); // (9 + 1 + 16) / 2
  close(m.third, 12); // (−27 − 1 + 64) / 3
  assert.ok(Number.isNaN(moments().mean));
  // tightest at t = 100, where it is 2.9 standard errors at 5 %, against 1.96 for a single look
  close(asymptoticHalfWidth(100, 0.05), 2.9, 0.15);
  assert.ok(asymptoticHalfWidth(10, 0.05) > asymptoticHalfWidth(100, 0.05));
  assert.ok(asymptoticHalfWidth(10_000, 0.05) > asymptoticHalfWidth(100, 0.05));
});
