import assert from "node:assert/strict";
import { test } from "node:test";
import { type TurnRewardsOptions, turnRewards } from "../../src/feedback/turnRewards.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const paid = (rewards: Readonly<Record<string, number>>) => turnOf([1], [2], { rewards });
const trajectories = [
  trajectoryOf("paid", [paid({ step: 1 }), paid({}), paid({ outcome: 0, step: 2 })]),
  trajectoryOf("unpaid", [paid({}), paid({})]),
  trajectoryOf("silent", []),
  trajectoryOf("failed", [paid({ step: 5 })], { end: { kind: "failed", boundary: "tool", message: "" } }),
];

async function heard(options: TurnRewardsOptions) {
  const signals = await turnRewards(options)(ctxOf({}), { trajectories, units: [] }, {});
  return signals.map((s) => [s.about[0]!.trajectory, s.about[0]!.turn, s.channel, "value" in s && s.value]);
}

test("turnRewards: a signal for each reward of each turn, none for what failed or was not paid", async () => {
  assert.deepEqual(await heard({}), [
    ["paid", 0, "outcome", 1],
    ["paid", 2, "outcome", 0],
    ["paid", 2, "outcome", 2],
  ]);
  assert.deepEqual(await heard({ rewards: ["outcome"], channel: { perName: true } }), [
    ["paid", 2, "outcome", 0],
  ]);
});

test("turnRewards: an episode that was paid nothing may count as a 0 at its end", async () => {
  const signals = await heard({ unpaid: "zero", rewards: ["step"], channel: { perName: true } });
  assert.deepEqual(signals, [
    ["paid", 0, "step", 1],
    ["paid", 2, "step", 2],
    ["unpaid", 1, "outcome", 0],
  ]);
});

test("turnRewards: weights multiply the rewards that they name", async () => {
  assert.deepEqual(await heard({ weights: { step: 0.5 } }), [
    ["paid", 0, "outcome", 0.5],
    ["paid", 2, "outcome", 0],
    ["paid", 2, "outcome", 1],
  ]);
});

test("turnRewards: earlier turns may be left out", async () => {
  assert.deepEqual(await heard({ from: 1, rewards: ["step"] }), [["paid", 2, "outcome", 2]]);
});
