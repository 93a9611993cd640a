import assert from "node:assert/strict";
import { test } from "node:test";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { method } from "../../src/method/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { trainingArm } from "../../src/train/trainingArm.ts";
import { echo } from "./world.ts";

test("trainingArm: what is followed becomes the curve, and its mean the value unless another metric is given", async () => {
  const seen: string[] = [];
  const parts = {
    recipe: grpo,
    environment: () => echo(),
    engine: () => tabularEngine(),
    iterations: 3,
    settings: { tasks: 1, groupSize: 2 },
    grid: [{ learningRate: 0.1 }],
    follow: (policy: { readonly version: string }, { name }: { readonly name: string }) => {
      seen.push(`${name} ${policy.version}`);
      return seen.length;
    },
  };
  const { value, curve } = await trainingArm(parts).measure({ learningRate: 0.1 }, 1);
  assert.deepEqual(curve, [1, 2, 3]);
  assert.equal(value, 2);
  assert.equal(new Set(seen).size, 3, "a step after each iteration");
  const judged = await trainingArm({ ...parts, metric: () => 7 }).measure({ learningRate: 0.1 }, 1);
  assert.equal(judged.value, 7);
});

test("trainingArm: a choice may name the recipe's own options", async () => {
  const seen: number[] = [];
  const recipe = method({
    id: "shared",
    family: "test",
    summary: "s",
    options: { share: { help: "a share", default: 0.5, low: 0, high: 1 } },
    slots: (_settings, { share }) => {
      seen.push(share);
      return {};
    },
  });
  const arm = trainingArm({
    recipe,
    environment: () => echo(),
    engine: () => tabularEngine(),
    iterations: 1,
    settings: { tasks: 1, groupSize: 2 },
    grid: [{ share: 0.25 }, { share: 2 }],
  });
  await arm.measure(arm.grid[0]!, 1);
  assert.equal(seen.at(-1), 0.25);
  await assert.rejects(arm.measure(arm.grid[1]!, 1), /share: got 2, expected a number from 0 to 1/);
});
