import assert from "node:assert/strict";
import { test } from "node:test";
import { assign, unitOf } from "../../src/release/split.ts";

const units = (n: number): string[] => Array.from({ length: n }, (_, i) => `session-${i}`);
type Shares = Readonly<Record<string, number>>;

/** Share of units whose version differs between two splits. */
function moved(before: Shares, after: Shares, n = 20_000): number {
  let differ = 0;
  for (const unit of units(n))
    if (assign({ shares: before }, unit).version !== assign({ shares: after }, unit).version) differ++;
  return differ / n;
}

test("units fall to versions in proportion to their shares: chi-squared", () => {
  const shares = { base: 0.7, b: 0.2, c: 0.05, d: 0.05 };
  const counts: Record<string, number> = { base: 0, b: 0, c: 0, d: 0 };
  const n = 40_000;
  for (const unit of units(n)) counts[assign({ shares }, unit).version]!++;
  const chi = Object.entries(shares).reduce(
    (sum, [version, share]) => sum + (counts[version]! - n * share) ** 2 / (n * share),
    0,
  );
  assert.ok(chi < 21.1, `chi² ${chi} with 3 degrees`); // 0.01 % tail
});

test("a unit's version repeats itself and does not depend on the order in which versions are written", () => {
  for (const unit of units(500)) {
    const there = assign({ shares: { a: 0.5, b: 0.3, c: 0.2 } }, unit);
    assert.deepEqual(assign({ shares: { c: 0.2, b: 0.3, a: 0.5 } }, unit), there);
  }
});

test("the propensity is the share of the version that answers", () => {
  for (const unit of units(200)) {
    const { version, propensity } = assign({ shares: { a: 0.9, b: 0.1 } }, unit);
    assert.equal(propensity, version === "a" ? 0.9 : 0.1);
  }
  assert.deepEqual(assign({ shares: { only: 1 } }, "anyone"), { version: "only", propensity: 1 });
});

test("a version that gains only takes, and a removed one's units are shared out: nobody else moves", () => {
  for (const unit of units(2000)) {
    const at5 = assign({ shares: { base: 0.95, b: 0.05 } }, unit).version;
    const at20 = assign({ shares: { base: 0.8, b: 0.2 } }, unit).version;
    if (at5 === "b") assert.equal(at20, "b");
    const three = assign({ shares: { base: 0.5, b: 0.25, c: 0.25 } }, unit).version;
    const without = assign({ shares: { base: 2 / 3, b: 1 / 3 } }, unit).version;
    if (three !== "c") assert.equal(without, three);
  }
});

test("where one version gains, exactly the difference moves; else at most 2d / (1 + d)", () => {
  // 0.05 → 0.2: the least that can move is 0.15; standard error √(0.15 · 0.85 / 20,000) = 0.0025
  assert.ok(Math.abs(moved({ base: 0.95, b: 0.05 }, { base: 0.8, b: 0.2 }) - 0.15) < 0.01);
  // a ½ b ¼ c ¼ → a ¼ b ¼ c ½: d = ¼. Same version v: Σ_v 1 / Σ_w max(p_w / p_v, q_w / q_v)
  // a: 1 / (1 + max(½, 1) + max(½, 2)) = ¼; b: 1 / (2 + 1 + 2) = 1/5; c: ¼; so 0.3 moves, and 2d / (1 + d) = 0.4
  assert.ok(Math.abs(moved({ a: 0.5, b: 0.25, c: 0.25 }, { a: 0.25, b: 0.25, c: 0.5 }) - 0.3) < 0.013);
});

test("who had one candidate is likelier to have the next, by as much as a shared clock makes it", () => {
  let both = 0;
  const n = 20_000;
  for (const unit of units(n)) {
    const b = assign({ shares: { base: 0.8, b: 0.2 } }, unit).version === "b";
    const c = assign({ shares: { base: 0.8, c: 0.2 } }, unit).version === "c";
    both += Number(b && c);
  }
  // P(base first of base and b) = 0.8, of all three 0.8 / 1.2; P(both before base) = 1 − 2 · 0.8 + 0.8 / 1.2 = 0.067, not 0.04
  assert.ok(Math.abs(both / n - (1 - 1.6 + 0.8 / 1.2)) < 0.01);
});

test("a call is drawn for by its split's unit, and by its session where nobody is known", () => {
  const call = { session: "s", response: "r", user: "u" };
  assert.equal(unitOf({ unit: "session" }, call), "s");
  assert.equal(unitOf({ unit: "response" }, call), "r");
  assert.equal(unitOf({ unit: "user" }, call), "u");
  assert.equal(unitOf({ unit: "user" }, { session: "s", response: "r" }), "s");
});
