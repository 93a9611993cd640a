import assert from "node:assert/strict";
import { test } from "node:test";
import { decades, flatRange, scaled, steps, unscaled, wholeDecades } from "../../web/src/parts/scale.ts";

const near = (got: readonly number[], wanted: readonly number[]): void => {
  assert.equal(got.length, wanted.length, `${got}`);
  for (const [i, x] of got.entries()) assert.ok(Math.abs(x - wanted[i]!) < 1e-12, `${got}`);
};

test("a logarithmic axis draws log10, and says the values", () => {
  assert.deepEqual(scaled([100, null, 0, -3, 0.01], true), [2, null, null, null, -2]);
  assert.deepEqual(scaled([100, null, -3], false), [100, null, -3]);
  assert.deepEqual([unscaled(2, true), unscaled(2, false)], [100, 2]);
});

test("its decades are whole, and there is at least one", () => {
  assert.deepEqual(wholeDecades(0.3, 1.2), [0, 2]);
  assert.deepEqual(wholeDecades(-1.5, -1.2), [-2, -1]);
  // one value, 100
  assert.deepEqual(wholeDecades(2, 2), [2, 3]);
});

test("few decades are marked at 1, 2 and 5, many at powers of ten", () => {
  const [two, five] = [Math.log10(2), Math.log10(5)];
  near(decades(0, 1), [0, two, five, 1]);
  near(decades(-1, 1), [-1, -1 + two, -1 + five, 0, two, five, 1]);
  assert.deepEqual(decades(-3, 2), [-3, -2, -1, 0, 1, 2]);
  // 12 decades in at most 6 marks: every third
  assert.deepEqual(decades(-9, 3), [-9, -6, -3, 0, 3]);
});

test("a linear axis is marked at multiples of its step, zero among them", () => {
  near(steps(-0.1, 0.3, 0.1), [-0.1, 0, 0.1, 0.2, 0.3]);
  assert.equal(steps(-0.3, 0.3, 0.1)[3], 0);
  near(steps(0.42, 0.58, 0.05), [0.45, 0.5, 0.55]);
});

test("values that are all the same have an axis of their size, and a share that of shares", () => {
  assert.deepEqual(flatRange(0, true), [0, 1]);
  assert.deepEqual(flatRange(1, true), [0, 1]);
  assert.deepEqual(flatRange(0.25, true), [0, 1]);
  // no share, whatever its words
  assert.deepEqual(flatRange(1.5, true), [0, 3]);
  assert.deepEqual(flatRange(0, false), [0, 1]);
  assert.deepEqual(flatRange(0.02, false), [0, 0.04]);
  assert.deepEqual(flatRange(-7, false), [-14, 0]);
});
