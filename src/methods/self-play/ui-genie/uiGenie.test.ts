import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { bestOf, rewardModel } from "./guidedSearch.ts";
import { menuFeatures, menuReader, menuSpeaker, menus } from "./menus.ts";
import { guided } from "./method.ts";
import { type Acted, bootstrapped, learntFrom, unifiedReward, wordsOf } from "./rewardModel.ts";

obeysTheLaws(() => menus(1), { garbage: 0.3 });

const acted = (...pairs: readonly string[]): Acted[] =>
  pairs.map((pair) => {
    const [screen = "", action = ""] = pair.split(" ");
    return { screen, action };
  });

test("bootstrapped: right prefixes, other actions of demonstrations, early ends and other goals", () => {
  const rows = bootstrapped([
    { goal: "a", acted: acted("s0 x", "s1 done") },
    { goal: "b", acted: acted("s0 y", "s2 done") },
  ]);
  const of = (mode: string, y: number) =>
    rows
      .filter(({ x, y: label }) => x.mode === mode && x.goal === "a" && label === y)
      .map(({ x, weight }) => [x.acted.map(({ action }) => action).join(" "), weight]);
  assert.deepEqual(of("step", 1), [
    ["x", 1],
    ["x done", 1],
  ]);
  // of three actions in all, two others at each step share a weight of 1
  assert.deepEqual(of("step", 0), [
    ["done", 0.5],
    ["y", 0.5],
    ["x x", 0.5],
    ["x y", 0.5],
  ]);
  assert.deepEqual(of("task", 1), [["x done", 1]]);
  assert.deepEqual(of("task", 0), [
    ["done", 0.5],
    ["y done", 0.5],
  ]);
  assert.deepEqual(bootstrapped([]), []);
});

test("learntFrom: what was tried beside the accepted steps is wrong, what came after a wrong step is not known", () => {
  const accepted = acted("s0 x", "s1 y", "s2 done");
  const rows = learntFrom("a", accepted, [
    acted("s0 x"),
    acted("s0 z"),
    acted("s0 x", "s1 w"),
    acted("s0 z", "s9 y"),
  ]);
  assert.deepEqual(
    rows.map(({ x, y }) => [x.mode, x.acted.map(({ action }) => action).join(" "), y]),
    [
      ["step", "x", 1],
      ["step", "x y", 1],
      ["step", "x y done", 1],
      ["step", "z", 0],
      ["step", "x w", 0],
      ["task", "x y done", 1],
    ],
  );
});

test("unifiedReward: modes are judged apart, a saved one judges the same, and p is a half before any fit", async () => {
  const reward = unifiedReward()();
  const x = (mode: "step" | "task", action: string) => ({ mode, goal: "open", acted: acted(`s0 ${action}`) });
  assert.deepEqual(await reward.predict([x("step", "x")]), [0.5]);
  await reward.fit([
    { x: x("step", "x"), y: 1, weight: 1 },
    { x: x("step", "y"), y: 0, weight: 1 },
    { x: x("task", "x"), y: 0, weight: 1 },
    { x: x("task", "y"), y: 1, weight: 1 },
  ]);
  const all = [x("step", "x"), x("step", "y"), x("task", "x"), x("task", "y")];
  const p = await reward.predict(all);
  assert.ok(p[0]! > 0.8 && p[1]! < 0.2 && p[2]! < 0.2 && p[3]! > 0.8, `${p}`);
  const copy = unifiedReward()();
  copy.load(reward.save());
  assert.deepEqual(await copy.predict(all), p);
  assert.ok("step: s0 → x" in wordsOf(all[0]!));
});

test("bestOf: by the mean and not the sum of step scores, the first of equals", () => {
  const partial = (id: string, ...scores: readonly number[]) => ({
    t: trajectoryOf(id, [turnOf([1], [2])]),
    scores,
  });
  const all = [
    partial("long", 0.6, 0.6, 0.6),
    partial("short", 0.7),
    partial("equal", 0.6),
    partial("low", 0.1),
  ];
  assert.deepEqual(
    bestOf(all, 3).map(({ t }) => t.id),
    ["short", "long", "equal"],
  );
});

test("the search replays, counts every step, and imitates demonstrations and what it accepts", async () => {
  const world = menus(3);
  const units: number[] = [];
  const { counters, curve } = await trainInMemory({
    environment: world,
    engine: tabularEngine({ prior: menuSpeaker, features: menuReader }),
    method: method({
      id: "ui-genie",
      family: "self-play",
      summary: "a test",
      helpers: { [rewardModel]: unifiedReward(menuFeatures) },
      slots: guided({ beam: 2, actions: 3, turns: 7, floor: 0.5, cotrained: true }),
    }).build({ tasks: 28, epochs: 10, minibatches: 1, learningRate: 0.3, warmUp: 0 }),
    seed: 3,
    iterations: 3,
    onIteration: ({ experience }) => void units.push(experience.units.length),
  });
  assert.deepEqual(
    units,
    curve.map(({ accepted }) => 12 + Math.round(16 * accepted!)),
  );
  assert.ok(units.at(-1)! > 12);
  // a candidate at step k takes k + 1 steps and samples one action
  assert.ok(counters["environment.steps"]! > 2 * counters["tokens.sampled"]!);
  assert.equal(counters.demonstrations, 36);
});
