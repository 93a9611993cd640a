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
    assert.ok(fitted.gain > 0 && fitted.before - fitted.after > fitted.gain, JSON.stringify(fitted));
  }
});

test("one that tells good replies from bad ones the wrong way round is not made constant", () => {
  const fitted = fitCorrection(forecasts("turned", 400, (truth) => 1 - truth));
  assert.ok("why" in fitted && /one number for all replies/.test(fitted.why), JSON.stringify(fitted));
});

test("a judge of two values gets no correction for want of a miss", () => {
  for (const [n, high] of [
    [10, 0.9],
    [20, 0.9],
    [50, 0.95],
  ] as const) {
    const all = Array.from({ length: n }, (_, i) => ({
      group: `g${i}`,
      p: i % 2 === 0 ? high : 1 - high,
      better: i % 2 === 0,
    }));
    assert.ok("why" in fitCorrection(all), `${n} labels`);
  }
});

test("labels that come in groups count as their groups", () => {
  const each = forecasts("groups", 12, (truth) => sigmoid(4 * logit(truth)));
  const copied = each.flatMap((one) => Array.from({ length: 40 }, () => one));
  assert.ok("why" in fitCorrection(copied), "twelve groups say too little");
  const apart = copied.map((one, i) => ({ ...one, group: `apart ${i}` }));
  assert.ok("correction" in fitCorrection(apart), "as labels of their own they would say enough");
});

test("the temperature is taken where it is the better one", () => {
  const fitted = Array.from({ length: 10 }, (_, seed) =>
    fitCorrection(forecasts(`temperature ${seed}`, 200, (truth) => sigmoid(3 * logit(truth)))),
  );
  const by = fitted.map((one) => ("correction" in one ? one.correction.by : "none"));
  assert.ok(by.filter((one) => one === "temperature").length >= 5, by.join());
  for (const one of fitted)
    if ("correction" in one && one.correction.by === "temperature")
      assert.ok(Math.abs(recalibration(one.correction)(sigmoid(3 * logit(0.7))) - 0.7) < 0.08);
});
