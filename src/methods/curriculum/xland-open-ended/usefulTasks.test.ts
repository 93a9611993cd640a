import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { isUseful, usefulTasks } from "./usefulTasks.ts";

const tests = { tooEasy: 0.8, separates: 0.2, byChance: 0.3 };

test("isUseful: neither too easy, nor out of reach, nor won by chance", () => {
  const returns = (...of: readonly number[]) => of;
  assert.ok(isUseful(returns(1, 0, 1, 0), returns(0, 0, 0, 0), tests));
  assert.ok(!isUseful(returns(1, 1, 1, 1), returns(0, 0, 0, 0), tests), "mastered");
  assert.ok(!isUseful(returns(0, 0, 0, 0), returns(0, 0, 0, 0), tests), "out of reach");
  // the control scores in one of three, which is above 0.3
  assert.ok(!isUseful(returns(1, 0, 1), returns(1, 0, 0), tests), "by chance");
  // 0.5 is above the control's mean of 0.45, but not by a tenth
  assert.ok(!isUseful(returns(0.5, 0.5), returns(0.45, 0.45), tests));
  assert.ok(isUseful(returns(0.6, 0.6), returns(0.45, 0.45), tests));
  // a share on the threshold itself: one in five above the control is too few
  assert.ok(!isUseful(returns(1, 0, 0, 0, 0), returns(0, 0), tests));
});

const task = (id: string): Task => ({ id, prompt: [], metadata: {}, seed: 1 });

/** Chooses in some iterations, with these returns of agent and control in every episode of a task. */
async function choices(
  known: Readonly<Record<string, readonly [agent: number, weak: number]>>,
  iterations: number,
) {
  const tasks = Object.keys(known).map(task);
  const played: string[] = [];
  const data = usefulTasks({ ...tests, tooEasy: 1, tasks: 2, episodes: 3, uses: 2, tries: 8 });
  let state = data.init(tasks);
  const chosen: string[][] = [];
  for (let i = 0; i < iterations; i++) {
    const ctx = ctxOf({
      random: randomStream(i),
      play: async ({ task: asked, attempt, models }: Play) => {
        const id = String(asked);
        played.push(`${i}/${id}/${attempt}`);
        const outcome = known[id]![models!.agent === "policy" ? 0 : 1];
        return [trajectoryOf(`${id}${attempt}`, [turnOf([1], [2], { rewards: { outcome } })], { task: id })];
      },
    });
    const next = await data.choose(ctx, tasks, state);
    chosen.push(next.tasks.map(({ id }) => id).toSorted());
    state = next.next;
  }
  return { chosen, played };
}

test("usefulTasks: tests until enough have passed, and keeps them for some iterations", async () => {
  const { chosen, played } = await choices(
    { a: [0.6, 0], b: [0, 0], c: [0.6, 0], d: [0.6, 0.6], e: [0, 0], f: [0.3, 0.25] },
    3,
  );
  assert.deepEqual(chosen, [
    ["a", "c"],
    ["a", "c"],
    ["a", "c"],
  ]);
  assert.equal(new Set(played).size, played.length, "no two episodes of an iteration are the same");
  assert.ok(!played.some((name) => name.startsWith("1/")), "no tests while the tasks are kept");
  assert.ok(played.some((name) => name.startsWith("2/")));
});

test("usefulTasks: where nothing passes, the first proposals are taken, and tested again", async () => {
  const { chosen, played } = await choices({ a: [0, 0], b: [1, 1], c: [0, 0] }, 2);
  assert.equal(chosen[0]!.length, 2);
  assert.ok(played.some((name) => name.startsWith("1/")));
});
