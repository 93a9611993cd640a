import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { twinCritic } from "./twinCritic.ts";

const near = (got: readonly number[], want: readonly number[]): void =>
  want.forEach((w, i) => {
    assert.ok(Math.abs(got[i]! - w) < 1e-12, `[${got}], expected [${want}]`);
  });

test("a fit steps towards the targets, and the slow copies follow by their share", async () => {
  // from 0: half of the way to 1 and to 2; then a quarter of the way for the copies
  const critic = twinCritic({ learningRate: 0.5, blend: 0.25, spread: 0 })(randomStream(1));
  const x = { observation: "o", utterance: "a" };
  assert.deepEqual(await critic.fit([{ x, y: [1, 2], weight: 1 }]), { rows: 1, error: 2.5 });
  const [once] = await critic.predict([x]);
  near(once!.now, [0.5, 1]);
  near(once!.target, [0.125, 0.25]);
  // a fit of other rows moves the copies all the same: 0.125 + (0.5 − 0.125)/4
  await critic.fit([{ x: { observation: "other" }, y: [0, 0], weight: 1 }]);
  const [again] = await critic.predict([x]);
  near(again!.now, [0.5, 1]);
  near(again!.target, [0.21875, 0.4375]);
});

test("Q and V of an observation, and utterances, are apart; weight 0 changes nothing", async () => {
  const critic = twinCritic({ learningRate: 1, spread: 0 })(randomStream(1));
  const rows = [
    { x: { observation: "o", utterance: "a" }, y: [1, 1] as const, weight: 1 },
    { x: { observation: "o" }, y: [2, 2] as const, weight: 1 },
    { x: { observation: "o", utterance: "b" }, y: [3, 3] as const, weight: 0 },
  ];
  await critic.fit(rows);
  const said = await critic.predict(rows.map((row) => row.x));
  assert.deepEqual(
    said.map(({ now }) => now[0]),
    [1, 2, 0],
  );
});

test("shared features carry over to observations never seen", async () => {
  const critic = twinCritic({ learningRate: 1, spread: 0, features: (text) => text.split(" ") })(
    randomStream(1),
  );
  // "key yes" from 0: both weights go up by 1, and "key no" has one of them: mean of 1 and 0
  await critic.fit([{ x: { observation: "key yes" }, y: [1, 1], weight: 1 }]);
  const [same, other] = await critic.predict([{ observation: "key yes" }, { observation: "key no" }]);
  near(same!.now, [1, 1]);
  near(other!.now, [0.5, 0.5]);
});

test("the twins begin differently, by their stream, and asking makes no weights", async () => {
  const [one] = await twinCritic()(randomStream(1)).predict([{ observation: "o" }]);
  const [again] = await twinCritic()(randomStream(1)).predict([{ observation: "o" }]);
  assert.deepEqual(one, again);
  assert.notEqual(one!.now[0], one!.now[1]);
  assert.deepEqual(one!.now, one!.target);
  const critic = twinCritic()(randomStream(1));
  await critic.predict([{ observation: "o" }]);
  assert.deepEqual(critic.save(), { weights: [] });
});

test("what it knows survives a checkpoint; another state is refused", async () => {
  const critic = twinCritic()(randomStream(1));
  await critic.fit([{ x: { observation: "o", utterance: "a b" }, y: [1, 2], weight: 1 }]);
  const copy = twinCritic()(randomStream(1));
  copy.load(JSON.parse(JSON.stringify(critic.save())));
  const asked = [{ observation: "o", utterance: "a b" }];
  assert.deepEqual(await copy.predict(asked), await critic.predict(asked));
  for (const state of [null, { weights: [["o", 1]] }, { weights: 3 }])
    assert.throws(() => copy.load(state), /another form/);
  assert.deepEqual(await critic.fit([]), { rows: 0 });
});
