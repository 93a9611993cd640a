import assert from "node:assert/strict";
import { test } from "node:test";
import type { Signal } from "../../src/core/signal.ts";
import { perTurn } from "../../src/credit/perTurn.ts";
import { toTrajectory } from "../../src/credit/toTrajectory.ts";
import { outcome } from "../../src/feedback/outcome.ts";
import { turnRewards } from "../../src/feedback/turnRewards.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const t = trajectoryOf("t", [
  turnOf([1], [2], { rewards: { true: 0.5, shaped: 0.1 } }),
  turnOf([1], [2], { rewards: { true: 0.5 } }),
]);
const cut = { ...t, id: "cut", end: { kind: "truncated", limit: "turns", at: 2 } as const };
const failed = {
  ...t,
  id: "failed",
  end: { kind: "failed", boundary: "environment", message: "down" } as const,
};
const experience = { trajectories: [t, cut, failed], units: [] };
const about = [{ trajectory: "t", turn: 0 }];
const signals: Signal[] = [
  { kind: "reward", channel: "a", about, value: 2, source: "environment" },
  { kind: "critique", channel: "b", about, text: "no number in it", source: "judge" },
  { kind: "preference", channel: "c", about, best: 0, value: 1, source: "judge" },
  { kind: "score", channel: "a", about: [{ trajectory: "t" }], value: 3, source: "judge" },
];
const evidence = { ...experience, notes: {}, signals };

test("outcome adds up the chosen rewards; failures get no signal", async () => {
  const all = await outcome()(ctxOf({}), experience, {});
  assert.deepEqual(
    all.map((s) => "value" in s && s.value),
    [1.1, 1.1],
  );
  const zero = await outcome({ rewards: ["true"], truncated: "zero" })(ctxOf({}), experience, {});
  assert.deepEqual(
    zero.map((s) => "value" in s && s.value),
    [1, 0],
  );
});

test("turnRewards gives one signal per turn and reward", async () => {
  const got = await turnRewards({ channel: { perName: true } })(
    ctxOf({}),
    { trajectories: [t, failed], units: [] },
    {},
  );
  assert.deepEqual(
    got.map((s) => [s.channel, s.about[0]?.turn]),
    [
      ["true", 0],
      ["shaped", 0],
      ["true", 1],
    ],
  );
});

test("toTrajectory drops the turn and what carries no number", () => {
  const at = { trajectory: "t" };
  assert.deepEqual(toTrajectory()(evidence), {
    a: [
      { at, value: 2 },
      { at, value: 3 },
    ],
  });
});

test("perTurn keeps the turn, and puts the rest on the last one", () => {
  const at = (turn: number) => ({ trajectory: "t", turn });
  assert.deepEqual(perTurn()(evidence), {
    a: [
      { at: at(0), value: 2 },
      { at: at(1), value: 3 },
    ],
  });
});

test("a channel may be named like what every object has", () => {
  for (const channel of ["constructor", "__proto__"]) {
    const named: Signal[] = [{ kind: "reward", channel, about, value: 2, source: "user" }];
    for (const credit of [toTrajectory(), perTurn()]) {
      const channels = Object.entries(credit({ ...experience, notes: {}, signals: named }));
      assert.deepEqual(
        channels.map(([name, credits]) => [name, credits.map(({ value }) => value)]),
        [[channel, [2]]],
      );
    }
  }
});
