import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { rewardVariance, varianceOf } from "./rewardVariance.ts";

const tasks: Task[] = Array.from({ length: 10 }, (_, i) => ({
  id: `t${i}`,
  prompt: [],
  metadata: {},
  seed: i,
}));

test("varianceOf: largest where half of the attempts succeed, and of a task never tried", () => {
  assert.equal(varianceOf([1, 0]), 0.25);
  assert.equal(varianceOf([1, 0, 0, 0]), 0.1875); // ¼ · ¾
  assert.equal(varianceOf([1, 1]), 0);
  assert.equal(varianceOf(undefined), 0.25);
  assert.equal(varianceOf([]), 0.25);
});

/** t0 … t3 are solved sometimes, all others always or never. */
const worths = Object.fromEntries(
  tasks.map(({ id }, i) => [id, i < 4 ? [1, 0, 1] : i < 7 ? [1, 1] : [0, 0]]),
);

test("rewardVariance: neither what is always solved nor what never is, but for a share drawn from all", async () => {
  const ids = async (explore: number, seed: number) => {
    const data = rewardVariance({ tasks: 4, explore });
    const chosen = await data.choose(ctxOf({ random: randomStream(seed) }), tasks, { worths });
    return chosen.tasks.map((t) => t.id);
  };
  assert.deepEqual((await ids(0, 1)).sort(), ["t0", "t1", "t2", "t3"]);
  assert.notDeepEqual(await ids(0, 1), await ids(0, 2));
  let others = 0;
  for (let seed = 0; seed < 500; seed++) {
    const chosen = await ids(0.5, seed);
    assert.equal(new Set(chosen).size, 4);
    others += chosen.filter((id) => Number(id.slice(1)) > 3).length;
  }
  // n of 4 places are drawn anyhow, from the 6 + n tasks that are left, of which 6 are the others: E[6n/(6 + n)], n ~ B(4, ½)
  // = (4 · 6/7 + 6 · 12/8 + 4 · 18/9 + 24/10) / 16 = 1.426; deviation of a mean of 500 about 0.04
  assert.ok(Math.abs(others / 500 - 1.426) < 0.15, String(others / 500));
});

test("rewardVariance: new tasks are made after those of highest variance, up to a share", async () => {
  const vary = (task: Task): Task => ({ ...task, id: `${task.id} varied` });
  const data = rewardVariance({ tasks: 4, explore: 0, vary, varied: 0.5 });
  const { tasks: training } = await data.choose(ctxOf({ random: randomStream(1) }), tasks, { worths });
  const made = training.filter((t) => t.id.endsWith("varied"));
  assert.deepEqual([training.length, made.length], [4, 2]);
  for (const { id } of made) assert.ok(["t0", "t1", "t2", "t3"].includes(id.split(" ")[0]!));
});

test("rewardVariance: keeps the latest attempts, demonstrations and failures left out", async () => {
  const tried = (i: number, success: boolean, more = {}) =>
    trajectoryOf(`${i}`, [], { task: "t0", end: { kind: "done", reason: "over", success }, ...more });
  const trajectories = [
    tried(1, true),
    tried(2, true, { origin: "demonstrated" }),
    tried(3, false, { origin: "imagined" }),
    tried(4, false, { end: { kind: "failed", boundary: "model", message: "none" } }),
  ];
  const annotated: AnnotatedExperience = { trajectories, units: [], notes: {}, signals: [], channels: {} };
  const { worths: after } = await rewardVariance({ window: 3 }).observe(ctxOf({}), annotated, {
    worths: { t0: [0, 0], t1: [1] },
  });
  assert.deepEqual(after, { t0: [0, 1, 0], t1: [1] });
});
