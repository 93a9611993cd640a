import assert from "node:assert/strict";
import { test } from "node:test";
import type { Play } from "../../src/core/context.ts";
import { opponents } from "../../src/rollout/opponents.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

test("opponents: as many attempts, in no unit, by whom the options say", async () => {
  const plays: Play[] = [];
  const ctx = ctxOf({
    tasks: [{ id: "a", prompt: [], metadata: {}, seed: 1 }],
    play: async (play) => {
      plays.push(play);
      const end =
        play.attempt === 1
          ? ({ kind: "failed", boundary: "environment", message: "" } as const)
          : ({ kind: "done", reason: "" } as const);
      return [trajectoryOf(`a/${play.attempt}`, [turnOf([1], [2])], { task: "a", end })];
    },
  });
  const mix = { with: "reference", share: 0.5 };
  const { trajectories, units } = await opponents({ groupSize: 3, opponent: "target", mix })(ctx);
  assert.deepEqual(
    trajectories.map((t) => t.id),
    ["a/0", "a/1", "a/2", "a/3", "a/4", "a/5"],
  );
  // attempt 1 failed
  assert.deepEqual(units, [
    { id: "a/0", group: "a", members: ["a/0"] },
    { id: "a/2", group: "a", members: ["a/2"] },
  ]);
  for (const play of plays) {
    const theirs = play.attempt >= 3;
    assert.deepEqual([play.models, play.mix], theirs ? [{ agent: "target" }, mix] : [undefined, undefined]);
  }
});
