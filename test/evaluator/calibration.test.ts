import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomStream } from "../../src/core/random.ts";
import {
  atTemperature,
  calibrationCurve,
  crossFitted,
  expectedCalibrationError,
  fittedTemperature,
  isotonic,
} from "../../src/evaluator/calibration.ts";

const near = (actual: number, expected: number, within = 1e-9): void =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual}, expected ${expected}`);

test("calibrationCurve and its error, by hand: 4 forecasts near 0.85 of which 3 came, 1 of 0.1 that did not", () => {
  const curve = calibrationCurve([0.8, 0.9, 0.82, 0.88, 0.1], [1, 1, 1, 0, 0], 5);
  assert.equal(curve.length, 2);
  assert.deepEqual(curve[0], { said: 0.1, came: 0, n: 1 });
  near(curve[1]!.said, 0.85);
  near(curve[1]!.came, 0.75);
  // 1/5 · 0.1 + 4/5 · 0.1
  near(expectedCalibrationError(curve), 0.1);
  assert.equal(calibrationCurve([0, 1], [0, 1]).at(-1)!.n, 1, "1 belongs to the last bin");
});

test("isotonic pools neighbours that fall: 1, 3, 2, 4 becomes 1, 2.5, 2.5, 4, and is linear between steps", () => {
  const to = isotonic([1, 2, 3, 4], [1, 3, 2, 4]);
  assert.deepEqual([1, 2, 3, 4].map(to), [1, 2.5, 2.5, 4]);
  assert.deepEqual([0, 1.5, 5].map(to), [1, 1.75, 4]);
  assert.equal(isotonic([0.5, 0.5], [0, 1])(0.5), 0.5, "equal forecasts are one");
});

test("isotonic rises, keeps the mean, and changes nothing that it has corrected", () => {
  const points = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 1 })), {
    minLength: 1,
  });
  fc.assert(
    fc.property(points, (all) => {
      const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
      const to = isotonic(xs, ys);
      const fitted = xs.map(to);
      const rising = xs.toSorted((a, b) => a - b).map(to);
      assert.ok(rising.every((y, i) => i === 0 || y >= rising[i - 1]! - 1e-12));
      near(
        fitted.reduce((a, b) => a + b),
        ys.reduce<number>((a, b) => a + b, 0),
        1e-9,
      );
      const again = isotonic(fitted, ys);
      for (const y of fitted) near(again(y), y);
    }),
  );
});

test("fittedTemperature: forecasts of 9 to 1 that come 3 to 1 need temperature 2, since ln 9 = 2 ln 3", () => {
  const [forecasts, outcomes] = [
    [0.9, 0.9, 0.9, 0.9],
    [1, 1, 1, 0],
  ];
  const temperature = fittedTemperature(forecasts, outcomes);
  near(temperature, 2, 1e-4);
  near(atTemperature(0.9, temperature), 0.75, 1e-5);
  near(atTemperature(0.3, 1), 0.3);
});

test("crossFitted: no forecast is corrected by its own outcome", () => {
  const folds: number[] = [];
  crossFitted([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], [0, 1, 0, 1], (forecasts) => {
    folds.push(forecasts.length);
    return (x) => x;
  });
  assert.deepEqual(folds, [2, 2]);
  const constant = crossFitted([0.5, 0.5], [0, 1], [0, 1], (_, outcomes) => () => outcomes[0]!);
  assert.deepEqual(constant, [1, 0]);
});

test("a judge that is too sure is brought back, on forecasts that the correction did not see", () => {
  const random = randomStream(3);
  const truth = Array.from({ length: 3000 }, () => random.next());
  const outcomes = truth.map((p) => Number(random.next() < p));
  const sure = truth.map((p) => atTemperature(p, 1 / 3));
  const errorOf = (said: readonly number[]): number =>
    expectedCalibrationError(calibrationCurve(said, outcomes));
  const fold = truth.map((_, i) => i % 5);
  const cooled = crossFitted(sure, outcomes, fold, (p, y) => {
    const temperature = fittedTemperature(p, y);
    return (x) => atTemperature(x, temperature);
  });
  assert.ok(errorOf(sure) > 0.1, String(errorOf(sure)));
  assert.ok(errorOf(cooled) < 0.03, String(errorOf(cooled)));
  assert.ok(errorOf(crossFitted(sure, outcomes, fold, isotonic)) < 0.03);
});
