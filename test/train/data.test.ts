/** Data that asks: tasks are chosen by playing them first, and new ones are made on the way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ctx } from "../../src/core/context.ts";
import type { Data } from "../../src/core/slots.ts";
import { succeeded, type Task } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { folder, runIn, settings, spied, traceOf } from "./world.ts";

/** Attempts of the choice are numbered apart from those of the rollout. */
const probe = 100;

/** Tries four tasks once and takes those that failed, with a copy of the first as a task of its own. */
function probing(seen: (ctx: Ctx, chosen: readonly Task[]) => void = () => {}): Data {
  return {
    name: "probing",
    init: () => ({ played: 0 }),
    async choose(ctx, tasks, state) {
      const { played } = state as { played: number };
      const tried = ctx.random.split("tried").below(tasks.length - 3);
      const failed: Task[] = [];
      for (const task of tasks.slice(tried, tried + 4)) {
        const [trajectory] = await ctx.play({ task, attempt: probe });
        if (!succeeded(trajectory!)) failed.push(task);
      }
      const first = tasks[tried]!;
      const made = { ...first, id: `made/${ctx.clock.iteration}`, seed: 1000 + ctx.clock.iteration };
      const chosen = [...failed, made];
      seen(ctx, chosen);
      return { tasks: chosen, next: { played: played + 4 } };
    },
    async observe(ctx, { trajectories }, state) {
      for (const { task } of trajectories) assert.equal(ctx.task(task).id, task);
      assert.ok(trajectories.some(({ task }) => task === `made/${ctx.clock.iteration}`));
      return state;
    },
  };
}

const methodOf = (data: Data) => {
  const base = grpo.build({ groupSize: 4, learningRate: 0.3 });
  return { ...base, slots: { ...base.slots, data } };
};

test("choose may play, and make tasks that the rest of the iteration knows", async () => {
  const ids: string[][] = [];
  const method = methodOf(probing((_ctx, chosen) => ids.push(chosen.map(({ id }) => id))));
  const { events } = await runIn(folder(), { ...settings("tabular"), method });
  assert.deepEqual(
    ids.map((chosen) => chosen.at(-1)),
    ["made/0", "made/1", "made/2", "made/3"],
  );
  const last = events.filter((e) => e.type === "iteration").at(-1)!;
  const attempts = 4 * ids.flat().length;
  assert.equal(last.metrics["total.episodes"], attempts + 4 * 4, "what the choice plays is counted");
});

test("held-out tasks cannot be reached from data", async () => {
  const refused: string[] = [];
  const asking = probing((ctx) => {
    assert.equal(ctx.tasks.length, 12);
    assert.ok(ctx.tasks.every(({ id }) => id.startsWith("echo/train/")));
    assert.equal(ctx.task("echo/train/0").id, "echo/train/0");
    for (const id of ["echo/test/0", "echo/validation/0"]) {
      assert.throws(() => ctx.task(id), /unknown name "echo/);
      refused.push(id);
    }
  });
  const observing: Data = {
    ...asking,
    observe: async (ctx, annotated, state) => {
      assert.throws(() => ctx.task("echo/test/0"), /unknown name "echo/);
      await assert.rejects(ctx.play({ task: "echo/validation/0", attempt: probe }), /unknown name "echo/);
      return asking.observe(ctx, annotated, state);
    },
  };
  await runIn(folder(), { ...settings("tabular"), method: methodOf(observing), iterations: 1 });
  assert.deepEqual(refused, ["echo/test/0", "echo/validation/0"]);
});

test("an attempt that the choice has played cannot be played again by the rollout", async () => {
  const data = probing();
  const twice: Data = {
    ...data,
    async choose(ctx, tasks, state) {
      await ctx.play({ task: tasks[0]!, attempt: 0 });
      return { tasks: tasks.slice(0, 1), next: state };
    },
  };
  const plan = { ...settings("tabular"), method: methodOf(twice), iterations: 1 };
  await assert.rejects(runIn(folder(), plan), /attempt 0 again in iteration 0/);
});

for (const staleness of [0, 1]) {
  test(`a run that is killed while data chooses goes on to the same result, staleness ${staleness}`, async () => {
    const plan = { ...settings("tabular"), method: methodOf(probing()), staleness };
    const whole = folder();
    await runIn(whole, plan);
    const expected = await traceOf(whole);
    const root = folder();
    // evaluations and the warm start sample too: some of these fall into a choice, some into a rollout
    for (const [i, nth] of [14, 9, 3, 5].entries()) {
      let calls = 0;
      const engine = spied(tabularEngine(), (name) => {
        if (name === "sample" && ++calls === nth) throw new Error("crash");
      });
      await assert.rejects(runIn(root, { ...plan, engine, resume: i > 0 }), /crash/);
    }
    await runIn(root, { ...plan, resume: true });
    assert.deepEqual(await traceOf(root), expected);
  });
}
