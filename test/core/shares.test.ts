import assert from "node:assert/strict";
import { test } from "node:test";
import { requireTrafficSplit } from "../../src/release/trafficSplit.ts";

test("shares that are probabilities pass, also where their sum is 1 up to rounding", () => {
  assert.deepEqual(requireTrafficSplit("split", { a: 1 }), { a: 1 });
  requireTrafficSplit("split", { a: 0.7, b: 0.2, c: 0.1 }); // adds up to 0.9999999999999999
});

test("what is no split is refused by name", () => {
  const refused = (shares: Record<string, number>, got: RegExp): void =>
    assert.throws(() => requireTrafficSplit("split", shares), { code: "option.range", message: got });
  refused({}, /no shares/);
  refused({ a: 1, b: 0 }, /a share of 0 for b/);
  refused({ a: 1.5, b: -0.5 }, /a share of 1.5 for a/);
  refused({ a: Number.NaN }, /a share of NaN for a/);
  refused({ a: 0.5, b: 0.25 }, /add up to 0.75/);
});
