import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatefulHelper } from "../../src/core/context.ts";
import { type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";
import { bandit } from "../../src/env/bandit.ts";
import { method } from "../../src/method/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { averageOf } from "../../src/train/trainingArm.ts";

/** One of two words, then the end. */
const prior: Prior = (context, word) => {
  const may = context.at(-1) === "<assistant>" ? ["left", "right"] : ["<end>"];
  return may.includes(word) ? 0 : -1e9;
};
const small = { tasks: 4, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 } as const;

function learn(seed: number, recipe = grpo) {
  return trainInMemory({
    environment: bandit({ means: { left: 0, right: 1 } }),
    method: recipe.build({ ...small, learningRate: 0.3 }),
    engine: tabularEngine({ context: "message", prior }),
    seed,
    iterations: 15,
  });
}

test("train learns in memory: the same seed the same curve, another seed another", async () => {
  const [one, again, other] = [await learn(1), await learn(1), await learn(2)];
  const curve = (of: typeof one): (number | undefined)[] => of.curve.map((m) => m.reward);
  assert.deepEqual(curve(one), curve(again));
  assert.notDeepEqual(curve(one), curve(other));
  assert.equal(one.curve.length, 15);
  assert.ok(averageOf(one.curve.slice(-3), "reward") > 0.9, "the better arm is found");
  assert.ok(one.curve.at(-1)!.entropy! < one.curve[0]!.entropy!);
  assert.equal(one.counters.episodes, 15 * 4 * 8);
  assert.ok((await one.evaluate("test", "greedy", 20)).success.mean > 0.9);
});

test("a method's helper is made for each run and remembers between iterations", async () => {
  const counting = (): StatefulHelper<never, never, number> => {
    let fitted = 0;
    return {
      fit: async () => ({ fitted: ++fitted }),
      predict: async () => [fitted],
      save: () => fitted,
      load: (state) => {
        fitted = Number(state);
      },
    };
  };
  const seen: number[] = [];
  const helped = method({
    id: "helped",
    family: "test",
    summary: "asks its helper",
    helpers: { counter: counting },
    slots: {
      annotate: async (ctx) => {
        const helper = ctx.helper<number, number, number>("counter");
        await helper.fit([]);
        seen.push((await helper.predict([0]))[0]!);
        return {};
      },
    },
  });
  await learn(1, helped);
  await learn(1, helped);
  const once = Array.from({ length: 15 }, (_, i) => i + 1);
  assert.deepEqual(seen, [...once, ...once]);
});
