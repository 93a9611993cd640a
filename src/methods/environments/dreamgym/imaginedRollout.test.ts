import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { isImagined } from "./imagined.ts";
import { imagined } from "./imaginedRollout.ts";

const task: Task = { id: "t", prompt: [], metadata: { level: 3 }, seed: 1 };

/** Imagined attempts 0 … 3 succeed, and of the real ones every second. */
function world() {
  const plays: Play[] = [];
  const ctx = ctxOf({
    random: randomStream(1),
    tasks: [task],
    task: () => task,
    play: async (play) => {
      plays.push(play);
      assert.ok(typeof play.task !== "string");
      const success = isImagined(play.task) || play.attempt % 2 === 0;
      const end = { kind: "done", reason: "over", success } as const;
      return [
        trajectoryOf(`${isImagined(play.task)} ${play.attempt}`, [turnOf([1], [2])], { task: "t", end }),
      ];
    },
  });
  return { ctx, plays };
}

test("imagined: every episode is played in the experience model, and says so", async () => {
  const { ctx, plays } = world();
  const { trajectories, units, stats } = await imagined(multiTurn({ groupSize: 4 }))(ctx);
  assert.equal(plays.length, 4);
  for (const play of plays) assert.deepEqual(play.task, { ...task, metadata: { level: 3, imagined: true } });
  assert.ok(trajectories.every((t) => t.origin === "imagined" && t.task === "t"));
  assert.deepEqual([units.length, stats], [4, undefined]);
});

test("imagined: probes are real, are not learnt from, and say how much success is made up", async () => {
  const { ctx, plays } = world();
  const { trajectories, units, stats } = await imagined(multiTurn({ groupSize: 4 }), { probes: 2 })(ctx);
  assert.deepEqual([trajectories.length, units.length], [4, 4]);
  assert.deepEqual(
    plays.slice(4).map(({ task: asked, attempt }) => [asked, attempt]),
    [
      [task, -1],
      [task, -2],
    ],
  );
  // real: attempt −2 succeeds, −1 does not
  assert.deepEqual(stats, { "imagined.success": 1, "real.success": 0.5, "imagined.gap": 0.5 });
});
