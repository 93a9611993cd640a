import assert from "node:assert/strict";
import { test } from "node:test";
import { gae } from "../../src/advantage/gae.ts";
import { values } from "../../src/annotate/values.ts";
import type { Experience } from "../../src/core/slots.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { vocabularyCodec } from "../../src/engine/tabular/codec.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { tabularModel } from "../../src/engine/tabular/model.ts";
import { newWeights } from "../../src/engine/tabular/weights.ts";
import { bandit } from "../../src/env/bandit.ts";
import { method } from "../../src/method/method.ts";
import { clippedRatio } from "../../src/objective/clippedRatio.ts";
import { valueRegression } from "../../src/objective/valueRegression.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const experience = (trajectories: Experience["trajectories"]): Experience => ({ trajectories, units: [] });

test("values are read at the context of each action token, across turns and cuts", async () => {
  const codec = vocabularyCodec(["x y go"]);
  const critic = tabularModel("critic", newWeights(codec, 1), 16);
  const table = critic.weights.part("head.value");
  const words = ["x", "y", "go"].map((word) => codec.encode(word)[0]!);
  const [x, y, go] = words as [number, number, number];
  for (const id of words) table.row(`${id}`);
  for (const id of words) table.array("weights")[table.row(`${id}`)] = id;
  // a turn of two tokens after `go`, one that goes on from it, and one that does not: a cut
  const t = trajectoryOf("t", [turnOf([go], [x, y]), turnOf([go, x, y, go], [x]), turnOf([y], [y])]);
  const failed = trajectoryOf("f", [turnOf([go], [x])], {
    end: { kind: "failed", boundary: "environment", message: "" },
  });
  const silent = trajectoryOf("s", []);
  const ctx = ctxOf({ model: () => critic });
  const notes = await values()(ctx, experience([failed, t, silent]));
  assert.deepEqual([...notes.value!.keys()], ["t"]);
  assert.deepEqual([...notes.value!.get("t")!], [go, x, go, y]);
  assert.deepEqual(await values({ heads: ["a", "b"] })(ctx, experience([])), { a: new Map(), b: new Map() });
});

const actorCritic = method({
  id: "actor-critic",
  family: "test",
  summary: "a critic's values as baseline",
  models: { critic: { from: "fresh", heads: ["value"] } },
  needs: ["heads"],
  slots: { annotate: values(), advantage: gae(), objective: [clippedRatio(), valueRegression()] },
});

const engines: readonly { readonly name: string; make(): Engine; readonly learningRate: number }[] = [
  { name: "tabular", make: () => tabularEngine({ context: "message" }), learningRate: 0.1 },
  {
    name: "local",
    make: () =>
      localEngine({ size: { width: 16, layers: 1, heads: 2, kvHeads: 1, feedForward: 16 }, threads: 1 }),
    learningRate: 0.01,
  },
];
for (const { name, make, learningRate } of engines) {
  test(`on the ${name} engine a critic beside the policy learns what the bandit pays`, async () => {
    const engine = make();
    try {
      const error: number[] = [];
      const { curve } = await trainInMemory({
        environment: bandit({ means: { left: 0.75, right: 0.75 } }),
        method: actorCritic.build({
          learningRate,
          minibatches: 1,
          tasks: 16,
          groupSize: 4,
          schedule: "constant",
        }),
        engine,
        seed: 1,
        iterations: 40,
        onIteration: ({ stats }) => void error.push(stats["valueRegression.error"]!),
      });
      assert.ok(curve.every((m) => Number.isFinite(m["critic.gradientNorm"])));
      // what is left is the variance of the reward: ¾ · ¼, and some for actions that name no arm
      assert.ok(error.at(-1)! < 0.25, `${error.at(-1)}`);
      const value = curve.at(-1)!["valueRegression.value"]!;
      assert.ok(Math.abs(value - curve.at(-1)!.reward!) < 0.2, `${value} for ${curve.at(-1)!.reward}`);
    } finally {
      await engine.dispose();
    }
  });
}
