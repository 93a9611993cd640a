import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { pastSelf } from "./pastSelf.ts";
import { drawnFromPool } from "./pool.ts";

test("pastSelf: keeps the policy, then lets the drawn one play; failed episodes are in no unit", async () => {
  const model = await tabularEngine().create({ id: "policy", seed: 1, vocabulary: ["a"], contextTokens: 8 });
  const plays: Play[] = [];
  const asked: string[] = [];
  const ctx = ctxOf({
    clock: { iteration: 1, phase: "train", step: 0 },
    random: randomStream(2),
    tasks: ["a", "b"].map((id) => ({ id, prompt: [], metadata: {}, seed: 1 })),
    model: () => model,
    frozen: (name) => {
      asked.push(name);
      return { ...model, blend: async () => {}, version: "0" };
    },
    play: async (play) => {
      assert.equal(asked.length, 1, "kept before anyone plays");
      plays.push(play);
      const end =
        play.attempt === 0
          ? ({ kind: "failed", boundary: "environment", message: "" } as const)
          : ({ kind: "done", reason: "" } as const);
      return [
        trajectoryOf(`${String(play.task)}/${play.attempt}`, [turnOf([1], [2])], {
          task: String(play.task),
          end,
        }),
      ];
    },
  });
  const { trajectories, units } = await pastSelf({ size: 4, groupSize: 2 })(ctx);
  assert.deepEqual(asked, ["past.1"]);
  assert.deepEqual([trajectories.length, units.map((u) => u.id)], [4, ["a/1", "b/1"]]);
  for (const { models } of plays) assert.deepEqual(models, { agent: drawnFromPool(ctx, 4) });
});
