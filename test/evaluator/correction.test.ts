import assert from "node:assert/strict";
import { test } from "node:test";
import { sigmoid } from "../../src/common/statistics/logistic.ts";
import { randomStream } from "../../src/core/random.ts";
import { type Forecast, fitCorrection, recalibration } from "../../src/evaluator/correction.ts";

const logit = (p: number): number => Math.log(p / (1 - p));

/** A judge that says what `said` makes of the truth, on n labels of as many groups. */
function forecasts(seed: string, n: number, said: (truth: number) => number): readonly Forecast[] {
  const random = randomStream(seed);
  return Array.from({ length: n }, (_, i) => {
    const truth = 0.05 + 0.9 * random.next();
    return { group: `g${i}`, p: said(truth), better: random.next() < truth };
  });
}

test("a judge that is right as it is gets a correction in few of 200 fits", () => {
  for (const n of [50, 200]) {
    const written = Array.from({ length: 200 }, (_, seed) =>
      fitCorrection(forecasts(`honest ${n} ${seed}`, n, (truth) => truth)),
    ).filter((fitted) => "correction" in fitted).length;
    assert.ok(written <= 10, `${written} of 200 at ${n} labels`);
  }
});

test("a judge that is too sure is corrected in 20 of 20 fits, towards the truth on labels of another draw", () => {
  for (let seed = 0; seed < 20; seed++) {
    const sure = (truth: number): number => sigmoid(4 * logit(truth));
    const fitted = fitCorrection(forecasts(`sure ${seed}`, 400, sure));
    assert.ok("correction" in fitted, JSON.stringify(fitted));
    const by = recalibration(fitted.correction);
    const off = [0.2, 0.35, 0.5, 0.65, 0.8].map((truth) => Math.abs(by(sure(truth)) - truth));
    assert.ok(Math.max(...off) < 0.16, `seed ${seed}: ${off}`);
    assert.ok(fitted.after < fitted.before && fitted.gain.low > 0);
  }
});

test("one that tells good replies from bad ones the wrong way round is not made constant", () => {
  const fitted = fitCorrection(forecasts("turned", 400, (truth) => 1 - truth));
  assert.ok("why" in fitted && /one number for all replies/.test(fitted.why), JSON.stringify(fitted));
});
