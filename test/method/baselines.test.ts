// What each baseline does beside its pieces: that they fit together, and learn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { contextualBandit } from "../../src/env/bandit.ts";
import type { Recipe } from "../../src/method/method.ts";
import type { Settings } from "../../src/method/settings.ts";
import { cispo } from "../../src/methods/baseline/cispo/method.ts";
import { dapo } from "../../src/methods/baseline/dapo/method.ts";
import { drGrpo } from "../../src/methods/baseline/dr-grpo/method.ts";
import { gspo } from "../../src/methods/baseline/gspo/method.ts";
import { ppo } from "../../src/methods/baseline/ppo/method.ts";
import { reinforcePlusPlus } from "../../src/methods/baseline/reinforce-plus-plus/method.ts";
import { turnPpo } from "../../src/methods/baseline/turn-ppo/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";

/** Doors that pay surely, so that what is learnt shows in few iterations. */
const doors = contextualBandit({
  means: { red: { left: 1, middle: 0, right: 0 }, blue: { left: 0, middle: 0, right: 1 } },
});
const settings: Partial<Settings> = { learningRate: 0.2, schedule: "constant", warmUp: 0 };

function run(recipe: Recipe, iterations: number) {
  const { tasks, groupSize } = recipe.defaults;
  const size = groupSize === 1 ? { tasks: tasks / 4 } : { tasks: tasks / 4, groupSize: 8 };
  return trainInMemory({
    environment: doors,
    method: recipe.build({ ...settings, ...size }),
    engine: tabularEngine({ context: "message" }),
    seed: 1,
    iterations,
    contextTokens: 40,
  });
}

for (const recipe of [cispo, dapo, drGrpo, gspo, ppo, reinforcePlusPlus, turnPpo]) {
  test(`${recipe.id} learns which door pays`, async () => {
    const { curve } = await run(recipe, 40);
    const [first, last] = [curve[0]!.success!, curve.at(-1)!.success!];
    assert.ok(first < 0.5 && last > 0.9, `${first} → ${last}`);
    assert.ok(curve.every((m) => Number.isFinite(m.reward)));
  });
}

test("dapo plays further tasks while groups teach nothing; dead ones are in no batch", async () => {
  const { curve } = await run(dapo, 40);
  assert.ok(curve.some((m) => m["groups.tried"]! > 4));
  for (const m of curve) assert.ok((m.deadGroups ?? 0) === 0);
});

test("ppo and turn-ppo read the same critic at other places: tokens of an action, or its first alone", async () => {
  const tokens = async (recipe: Recipe) => (await run(recipe, 1)).curve[0]!;
  const [all, first] = [await tokens(ppo), await tokens(turnPpo)];
  assert.equal(all["valueRegression.tokens"], all["clippedRatio.tokens"]);
  assert.equal(first["valueRegression.tokens"], 32); // one per turn of 4 tasks · 8 attempts
});
