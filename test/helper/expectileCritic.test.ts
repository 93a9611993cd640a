import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../src/core/errors.ts";
import { expectileCritic } from "../../src/helper/expectileCritic.ts";

const row = (observation: string, utterance: string, reward: number, next: string | null) => ({
  x: { observation, utterance },
  y: { reward, next },
  weight: 1,
});
const about = (observation: string, utterance: string) => ({ observation, utterance });

test("one step, by hand: Q towards its target, V by the expectile, the slow copy last", async () => {
  const critic = expectileCritic({ expectile: 0.9, discount: 0.5, learningRate: 0.1, blend: 0.5 })();
  // first sight: Q = Q̄ = V = 4 without a step
  await critic.fit([row("s", "a", 4, null)]);
  assert.deepEqual(await critic.predict([about("s", "a")]), [{ q: 4, v: 4 }]);
  // "b" at t: target 1 + 0.5 · V(s) = 3, V(t) = 3; "a" at s again: off = 14 − 4, Q = 4 + 0.1 · 10 = 5;
  // u = Q̄ − V = 4 − 4 = 0; then Q̄ = 4 + 0.5 · (5 − 4) = 4.5
  const { error } = await critic.fit([row("t", "b", 1, "s"), row("s", "a", 14, null)]);
  assert.equal(error, 50); // (0² + 10²) / 2
  assert.deepEqual(await critic.predict([about("t", "b"), about("s", "a")]), [
    { q: 3, v: 3 },
    { q: 5, v: 4 },
  ]);
  // off = 5 − 5 = 0; u = 4.5 − 4 = 0.5 > 0: V = 4 + 0.1 · 2 · 0.9 · 0.5 = 4.09
  await critic.fit([row("s", "a", 5, null)]);
  const [after] = await critic.predict([about("s", "a")]);
  assert.ok(Math.abs(after!.v - 4.09) < 1e-12);
});

test("V lies between the mean and the best of what was done, nearer to the best for higher expectiles", async () => {
  // returns 0 and 1, equally often: the τ-expectile m solves τ(1 − m) = (1 − τ)m, so m = τ
  for (const expectile of [0.5, 0.7, 0.9]) {
    const critic = expectileCritic({ expectile, learningRate: 0.02, blend: 1 })();
    for (let pass = 0; pass < 1500; pass++)
      await critic.fit([row("s", "bad", 0, null), row("s", "good", 1, null)]);
    const [{ v } = { v: Number.NaN }] = await critic.predict([about("s", "bad")]);
    assert.ok(Math.abs(v - expectile) < 0.02, `${expectile}: ${v}`);
  }
});

test("good halves of two episodes are stitched together", async () => {
  // a bad start that ends well and a good start that ends badly: nobody did both well
  const critic = expectileCritic({ discount: 1 })();
  const rows = [
    row("m", "win", 1, null),
    row("m", "lose", 0, null),
    row("s", "slow", -1, "m"),
    row("s", "fast", 0, "m"),
  ];
  for (let pass = 0; pass < 300; pass++) await critic.fit(rows);
  const [fast, slow] = await critic.predict([about("s", "fast"), about("s", "slow")]);
  assert.ok(fast!.q > 0.85 && slow!.q < 0, `${fast!.q} ${slow!.q}`);
});

test("what was never said somewhere is no better than usual; where nobody was is worth nothing", async () => {
  const critic = expectileCritic()();
  assert.deepEqual(await critic.fit([]), { rows: 0 });
  await critic.fit([row("s", "a", -4, null)]);
  assert.deepEqual(await critic.predict([about("s", "b"), about("t", "a")]), [
    { q: -4, v: -4 },
    { q: 0, v: 0 },
  ]);
});

test("a critic goes on as it was saved, and refuses what none has saved", async () => {
  const [critic, other] = [expectileCritic()(), expectileCritic()()];
  await critic.fit([row("s", "a", 4, "t"), row("t", "b", 2, null)]);
  other.load(JSON.parse(JSON.stringify(critic.save())));
  for (const one of [critic, other]) await one.fit([row("s", "a", 1, "t")]);
  assert.deepEqual(other.save(), critic.save());
  assert.throws(
    () => critic.load({ values: 3 }),
    (e) => isWhetstoneError(e) && e.code === "checkpoint.damaged",
  );
});
