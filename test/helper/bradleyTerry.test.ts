import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { bradleyTerry, difference } from "../../src/helper/bradleyTerry.ts";

const said = (replied: string) => ({ asked: "q", replied });
const featuresOf = ({ replied }: { readonly replied: string }) => ({ [replied]: 1 });
const options = { featuresOf, passes: 4000, learningRate: 0.05 };

test("difference leaves out what is equal", () => {
  assert.deepEqual(difference({ a: 1, b: 2 }, { b: 2, c: 3 }), { a: 1, c: -3 });
});

test("the reward difference is the log-odds of the comparisons", async () => {
  const model = bradleyTerry({ ...options, strength: 1e-9 })(randomStream(1));
  assert.ok(Number.isNaN((await model.predict([{ first: said("a") }]))[0]));
  // a beats b in three of four: Δ = ln 3
  const stats = await model.fit([
    { x: { first: said("a"), second: said("b") }, y: 1, weight: 3 },
    { x: { first: said("b"), second: said("a") }, y: 1, weight: 1 },
    { x: { first: said("a"), second: said("b") }, y: null, weight: 9 },
    { x: { first: said("a") }, y: 1, weight: 9 },
  ]);
  assert.deepEqual([stats.rows, stats.accuracy], [2, 0.75]);
  const [alone, margin, other] = await model.predict([
    { first: said("a") },
    { first: said("a"), second: said("b") },
    { first: said("never seen") },
  ]);
  assert.ok(Math.abs(margin! - Math.log(3)) < 1e-3, `${margin}`);
  assert.ok(Math.abs(alone! - margin! / 2) < 1e-3);
  assert.equal(other, 0);
  const loaded = bradleyTerry(options)(randomStream(1));
  loaded.load(model.save());
  assert.deepEqual(await loaded.predict([{ first: said("a") }]), [alone]);
});

test("a term counts with its coefficient, whatever its number of rows; the penalty is that of the whole loss", async () => {
  const strength = 0.5;
  const term = (n: number) => () => [
    {
      coefficient: 2,
      rows: [...Array(2 * n).keys()].map((i) => ({ x: { a: 1 }, y: i % 2, weight: 5 })),
    },
  ];
  for (const n of [1, 7]) {
    const model = bradleyTerry({ ...options, strength, terms: term(n) })(randomStream(1));
    await model.fit([{ x: { first: said("a"), second: said("") }, y: 1, weight: 1 }]);
    const [a, none] = await model.predict([{ first: said("a") }, { first: said("") }]);
    const p = 1 / (1 + Math.exp(-(a! - none!)));
    // at the minimum the slope in θ_a is 0: −σ(−Δ) + 2 (σ(θ_a) − ½) + λ θ_a
    const slope = -(1 - p) + 2 * (1 / (1 + Math.exp(-a!)) - 0.5) + strength * a!;
    assert.ok(Math.abs(slope) < 1e-4, `${slope} at ${a}`);
  }
});
