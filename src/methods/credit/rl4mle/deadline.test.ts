import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import type { Task } from "../../../core/types.ts";
import { deadline } from "./deadline.ts";

const task: Task = { id: "a", prompt: [], metadata: {}, seed: 1 };

/** Plays that take the next of these times, whoever plays. */
function timed(times: readonly number[]) {
  const asked: Play[] = [];
  const counted: Record<string, number> = {};
  const ctx = ctxOf({
    tasks: [task],
    play: async (play) => {
      asked.push(play);
      const seconds = times[asked.length - 1]!;
      return [
        trajectoryOf(`e${asked.length}`, [turnOf([1], [2, 3], { rewards: { seconds } })], { task: "a" }),
      ];
    },
    count: (counter, amount) => {
      counted[counter] = (counted[counter] ?? 0) + amount;
    },
  });
  return { ctx, asked, counted };
}

test("deadline: an actor plays on until its time is up, and what is late is lost", async () => {
  // 1 + 4 + 5 = 10 seconds fit into 10; the fourth ends at 12
  const { ctx, asked, counted } = timed([1, 4, 5, 2]);
  const { trajectories, units, stats } = await deadline({ window: 10, workers: 1 })(ctx);
  assert.deepEqual(
    trajectories.map((t) => t.id),
    ["e1", "e2", "e3"],
  );
  assert.deepEqual(
    units.map((u) => [u.group, u.members[0]]),
    [
      ["a", "e1"],
      ["a", "e2"],
      ["a", "e3"],
    ],
  );
  assert.equal(new Set(asked.map((p) => p.attempt)).size, 4);
  assert.deepEqual(counted, { "jobs.late": 1, "tokens.discarded": 2 });
  assert.deepEqual(stats, { arrived: 3, late: 1 });
});

test("deadline: actors have windows and attempts of their own; what takes no time ends at the limit", async () => {
  const { ctx, asked } = timed(Array(6).fill(0));
  const { trajectories, stats } = await deadline({ window: 10, workers: 2, most: 3 })(ctx);
  assert.equal(trajectories.length, 6);
  assert.equal(new Set(asked.map((p) => p.attempt)).size, 6);
  assert.deepEqual(stats, { arrived: 6, late: 0 });
});

test("deadline: a job longer than the window never arrives", async () => {
  const { ctx } = timed([11, 11]);
  const { trajectories, units } = await deadline({ window: 10, workers: 2 })(ctx);
  assert.deepEqual([trajectories.length, units.length], [0, 0]);
});
