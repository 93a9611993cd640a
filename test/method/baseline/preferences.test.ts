import assert from "node:assert/strict";
import { test } from "node:test";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { dpo } from "../../../src/methods/baseline/dpo/method.ts";
import { ipo } from "../../../src/methods/baseline/ipo/method.ts";
import { kto } from "../../../src/methods/baseline/kto/method.ts";
import { trainInMemory } from "../../../src/train/trainInMemory.ts";
import { preferenceGame } from "../../../src/worlds/preferenceGame.ts";

const settings = {
  tasks: 4,
  groupSize: 16,
  learningRate: 0.1,
  schedule: "constant",
  warmUp: 0,
  minibatches: 1,
} as const;

for (const recipe of [dpo, ipo, kto]) {
  test(`${recipe.id} learns which replies are liked`, async () => {
    const { curve } = await trainInMemory({
      environment: preferenceGame({ kind: "bradleyTerry", replies: 4 }),
      method: recipe.build(settings),
      engine: tabularEngine({ context: "message", prior: (_, word) => (/^r\d$/.test(word) ? 0 : -1e9) }),
      seed: 3,
      iterations: 60,
    });
    // four replies, all as likely at first
    const success = curve.slice(-10).reduce((sum, m) => sum + m.success! / 10, 0);
    assert.ok(success > 0.6, String(success));
  });
}
