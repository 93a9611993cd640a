import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { momentsIn } from "./fit.ts";
import { goalReward } from "./goalReward.ts";

test("moments: the goal is later than the state, in the same reply; short replies have none", () => {
  const random = randomStream(1);
  const drawn = Array.from({ length: 2000 }, () => momentsIn(5, 3, random)!);
  assert.ok(drawn.every(([i, j, l]) => i >= 0 && i < j && j < 5 && l >= 0 && l < 3));
  // from i = 0 the next state is the goal half of the time
  const first = drawn.filter(([i]) => i === 0);
  const next = first.filter(([, j]) => j === 1).length / first.length;
  assert.ok(Math.abs(next - 0.5) < 0.08, `${next}`);
  assert.equal(momentsIn(1, 3, random), undefined);
  assert.equal(momentsIn(3, 0, random), undefined);
});

const exchange = (replied: string) => ({ asked: "q", replied });
const row = (first: string, second: string, y: number | null) => ({
  x: { first: exchange(first), second: exchange(second) },
  y,
  weight: 1,
});
/** The order of the words decides, which no model of words alone can learn. */
const rows = [row("a b", "b a", 1), row("b a", "a b", 0), row("c a b", "b c a", 1)];

test("learns what order is better, on either side; texts without known words have a reward", async () => {
  const reward = goalReward()(randomStream(1));
  const ask = { first: exchange("a b"), second: exchange("b a") };
  assert.deepEqual(await reward.fit([row("a", "b", null)]), { rows: 0 });
  assert.deepEqual(await reward.predict([ask]), [Number.NaN]);
  assert.deepEqual(await reward.fit(rows), { rows: 3 });
  const [margin, empty] = await reward.predict([ask, { first: { asked: "", replied: "" } }]);
  assert.ok(margin! > 1, `${margin}`);
  assert.ok(Number.isFinite(empty));
});

test("state: the same predictions after saving and loading; another format is refused", async () => {
  const reward = goalReward({ steps: 10 })(randomStream(1));
  await reward.fit(rows);
  const other = goalReward({ steps: 10 })(randomStream(2));
  other.load(JSON.parse(JSON.stringify(reward.save())));
  const asks = ["a b", "b a c", "unheard"].map((replied) => ({ first: exchange(replied) }));
  assert.deepEqual(await other.predict(asks), await reward.predict(asks));
  assert.throws(() => other.load({ words: ["a"], theta: [1], fits: 0 }), /another format/);
});
