import assert from "node:assert/strict";
import { test } from "node:test";
import { sigmoid } from "../../../common/statistics/logistic.ts";
import { isWhetstoneError } from "../../../core/errors.ts";
import { randomStream } from "../../../core/random.ts";
import { layoutOf, type Vote } from "./latentTaste.ts";
import { beating, variationalPreference } from "./variationalPreference.ts";

/** People who always take the larger, and people who always take the smaller. */
const random = randomStream(5);
const person = (sign: number): Vote[] =>
  Array.from({ length: 8 }, () => {
    const [a, b] = [random.next(), random.next()].sort((x, y) => sign * (y - x));
    return [[a!], [b!]];
  });
const people = Array.from({ length: 16 }, (_, i) => person(i % 2 === 0 ? 1 : -1));
const row = (votes: readonly Vote[]) => ({ x: { votes, things: [] }, y: null, weight: 1 });

test("variationalPreference: one new vote tells what somebody likes; without a taste everybody is alike", async () => {
  const ask = [
    { votes: [[[0.9], [0.1]]] as const, things: [[1], [0]] },
    { votes: [[[0.1], [0.9]]] as const, things: [[1], [0]] },
  ];
  const helper = variationalPreference({ steps: 200 })(randomStream(1));
  assert.deepEqual(await helper.predict([ask[0]!]), [[Number.NaN, Number.NaN]]);
  assert.deepEqual(await helper.fit(people.map(row)), { rows: 16 });
  const [large, small] = await helper.predict(ask);
  assert.ok(large![0]! > 0.8 && large![1]! < 0.2, String(large));
  assert.ok(small![0]! < 0.2 && small![1]! > 0.8, String(small));
  const plain = variationalPreference({ steps: 200, latent: 0 })(randomStream(1));
  await plain.fit(people.map(row));
  const [first, second] = await plain.predict(ask);
  assert.deepEqual(first, second);
  assert.ok(Math.abs(first![0]! - 0.5) < 0.2);
  const again = variationalPreference()(randomStream(9));
  again.load(JSON.parse(JSON.stringify(helper.save())));
  assert.deepEqual(await again.predict(ask), [large, small]);
});

test("variationalPreference: who has no two votes teaches nothing; a damaged state is said", async () => {
  const helper = variationalPreference()(randomStream(1));
  await helper.fit([row([[[1], [0]]])]);
  assert.equal(helper.save(), null);
  assert.throws(
    () => helper.load({ theta: "x" }),
    (e) => isWhetstoneError(e) && e.code === "checkpoint.damaged",
  );
});

test("beating is worked by hand: the mean chance against the pool", () => {
  const sizes = { traits: 1, units: 1, latent: 0 };
  const theta = new Float64Array(layoutOf(sizes).length);
  theta[layoutOf(sizes).shared] = 2;
  // against 0 and 1: (σ(2) + σ(0)) / 2
  const got = beating({ sizes, theta, pool: [[0], [1]] }, [], [1]);
  assert.ok(Math.abs(got - (sigmoid(2) + 0.5) / 2) < 1e-12);
});
