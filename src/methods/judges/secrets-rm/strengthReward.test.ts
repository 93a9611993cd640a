import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { strengthReward } from "./strengthReward.ts";

const exchange = (replied: string) => ({ asked: "q", replied });
const pair = (first: string, second: string, y: number | null) => ({
  x: { first: exchange(first), second: exchange(second) },
  y,
  weight: 1,
});
/** "good" is better than "bad", whatever else is said; some labels are wrong. */
const rows = (wrong: number) =>
  Array.from({ length: 60 }, (_, i) => pair(`good w${i % 7}`, `bad w${(i * 3) % 7}`, i < wrong ? 0 : 1));

test("learns from comparisons on either side, repairs wrong labels, and knows nothing before", async () => {
  const reward = strengthReward()(randomStream(1));
  const ask = { first: exchange("good"), second: exchange("bad") };
  assert.deepEqual(await reward.fit([pair("good", "bad", null)]), { rows: 0 });
  assert.deepEqual(await reward.predict([ask]), [Number.NaN]);
  const stats = await reward.fit([...rows(6), pair("good w1", "good w2", null)]);
  assert.equal(stats.rows, 60);
  const [margin] = await reward.predict([ask]);
  assert.ok(margin! > 1, `${margin}`);
  // the six wrong labels, which no model saw that judged them
  assert.ok(Math.abs(stats.flipped! - 0.1) < 1e-12, `${stats.flipped}`);
  const [alone] = await reward.predict([{ first: exchange("good") }]);
  assert.equal(typeof alone, "number");
});

test("state: the same predictions after saving and loading; another format is refused", async () => {
  const reward = strengthReward({ members: 2, steps: 20 })(randomStream(1));
  await reward.fit(rows(0));
  const other = strengthReward({ members: 2, steps: 20 })(randomStream(2));
  other.load(JSON.parse(JSON.stringify(reward.save())));
  const asks = ["good", "bad w1", "unheard"].map((replied) => ({ first: exchange(replied) }));
  assert.deepEqual(await other.predict(asks), await reward.predict(asks));
  assert.throws(() => other.load({ names: ["a"], theta: [1], fits: 0 }), /checkpoint.damaged|another format/);
  assert.throws(() => strengthReward({ units: 3 })(randomStream(1)).load(reward.save()), /another format/);
});
