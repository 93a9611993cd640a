import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { dynamicSampling } from "./dynamicSampling.ts";

const tasks = Array.from({ length: 6 }, (_, i): Task => ({ id: `${i}`, prompt: [], metadata: {}, seed: i }));

/** Two attempts at each task; those at tasks 0, 2 and 3 come to the same. Writes down who was played when. */
function world() {
  const waves: string[][] = [];
  const rollout: Rollout = async ({ tasks: training }) => {
    waves.push(training.map((t) => t.id));
    const trajectories = training.flatMap(({ id }) =>
      [0, 1].map((i) => {
        const outcome = ["0", "2", "3"].includes(id) ? 1 : i;
        return trajectoryOf(`${id}.${i}`, [turnOf([1], [2], { rewards: { outcome } })], { task: id });
      }),
    );
    return { trajectories, units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })) };
  };
  return { waves, rollout };
}

const ctx = ctxOf({ tasks: tasks, random: randomStream(1) });
const groupsOf = ({ units }: Awaited<ReturnType<Rollout>>) => [...new Set(units.map((u) => u.group))];

test("dynamicSampling plays the next tasks in place of groups without spread", async () => {
  const { waves, rollout } = world();
  const experience = await dynamicSampling(rollout, { groups: 2 })(ctx);
  // 0 is dead, 1 is kept; one is missing: 2 and 3 are dead as well, 4 is kept
  assert.deepEqual(waves, [["0", "1"], ["2"], ["3"], ["4"]]);
  assert.deepEqual(groupsOf(experience), ["1", "4"]);
  assert.equal(experience.units.length, 4);
  assert.equal(experience.trajectories.length, 10);
  assert.deepEqual(experience.stats, { "groups.tried": 5, "groups.kept": 2 / 5 });
});

test("dynamicSampling makes do with fewer groups when the tasks run out, or with none", async () => {
  const { rollout } = world();
  assert.deepEqual(groupsOf(await dynamicSampling(rollout, { groups: 5 })(ctx)), ["1", "4", "5"]);
  const dead = await dynamicSampling(rollout, { groups: 2, returnOf: () => 0.5 })(ctx);
  assert.deepEqual([dead.units.length, dead.trajectories.length], [0, 12]);
  const none = await dynamicSampling(rollout, { groups: 2 })({ ...ctx, tasks: [] });
  assert.deepEqual(none.stats, { "groups.tried": 0 });
});

test("dynamicSampling can ask for another return than what was paid", async () => {
  const { rollout } = world();
  const byId = (t: { id: string }) => (t.id.startsWith("0") ? Number(t.id.endsWith("1")) : 0);
  assert.deepEqual(groupsOf(await dynamicSampling(rollout, { groups: 1, returnOf: byId })(ctx)), ["0"]);
});
