import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { mapById } from "../../../common/mapById.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { expectedReward, nearestTo, type ValueChosenOptions, valueChosen } from "./valueChosen.ts";

const task = (content: string): Task => ({
  id: content,
  prompt: [{ role: "user", content }],
  metadata: {},
  seed: 1,
});
const named = (tasks: readonly Task[]) => tasks.map(({ id }) => id);

test("nearestTo: the smallest distances to the target, then some of the rest at random", () => {
  const values: Readonly<Record<string, number>> = { a: 0.9, b: 0.45, c: 0.7, d: 0, e: 0.5 };
  const tasks = Object.keys(values).map(task);
  const chosen = (options: ValueChosenOptions) =>
    named(nearestTo(tasks, ({ id }) => values[id]!, options, randomStream(1)));
  assert.deepEqual(chosen({ tasks: 3, random: 0 }), ["e", "b", "c"]);
  assert.deepEqual(chosen({ tasks: 2, target: 1, random: 0 }), ["a", "c"]);
  const mixed = chosen({ tasks: 2, random: 0.5 });
  assert.equal(mixed[0], "e");
  assert.ok(["a", "b", "c", "d"].includes(mixed[1]!));
  assert.equal(new Set(chosen({ tasks: 9, random: 0.5 })).size, 5);
});

/** Trains the values on tasks with these mean rewards, all chosen in each of `iterations` iterations. */
async function valuesAfter(
  means: Readonly<Record<string, number>>,
  iterations: number,
  options: Partial<ValueChosenOptions> = {},
) {
  const tasks = Object.keys(means).map(task);
  const data = valueChosen(uniform({ tasks: tasks.length }), { tasks: tasks.length, ...options });
  let state = data.init(tasks);
  for (let i = 0; i < iterations; i++) {
    const ctx = ctxOf({ random: randomStream(i), tasks, task: (id) => mapById(tasks).get(id)! });
    const chosen = await data.choose(ctx, tasks, state);
    // ten attempts, which pay 0 or 1
    const trajectories = chosen.tasks.flatMap(({ id }) =>
      Array.from({ length: 10 }, (_, j) =>
        trajectoryOf(
          `${id}/${j}`,
          [turnOf([1], [2], { rewards: { outcome: Number(j < 10 * means[id]!) } })],
          {
            task: id,
          },
        ),
      ),
    );
    const annotated: AnnotatedExperience = { trajectories, units: [], notes: {}, signals: [], channels: {} };
    state = await data.observe(ctx, annotated, JSON.parse(JSON.stringify(chosen.next)));
  }
  return state.values;
}

test("the model learns mean rewards from the prompt's words, and says something of prompts it has not seen", async () => {
  const means = { "add small": 0.9, "add large": 0.5, "multiply small": 0.5, "multiply large": 0.1 };
  const values = await valuesAfter(means, 100);
  for (const [prompt, mean] of Object.entries(means))
    assert.ok(
      Math.abs(expectedReward(task(prompt), values) - mean) < 0.05,
      `${prompt}: ${expectedReward(task(prompt), values)}`,
    );
  assert.equal(expectedReward(task("add small"), {}), 0.5);
  assert.ok(expectedReward(task("add tiny"), values) > expectedReward(task("multiply tiny"), values));
});

test("last seen: each task's own last mean; unseen ones count as right at the target", async () => {
  assert.deepEqual(await valuesAfter({ a: 0.3, b: 1 }, 2, { value: "last seen" }), { a: 0.3, b: 1 });
});

test("chosen from a pool: with two of four to play, those that the values call hard to tell", async () => {
  const tasks = ["a", "b", "c", "d"].map(task);
  const data = valueChosen(uniform({ tasks: 4 }), { tasks: 2, random: 0, value: "last seen" });
  const state = { ...data.init(tasks), values: { a: 1, b: 0.4, c: 0, d: 0.6 } };
  const { tasks: chosen } = await data.choose(ctxOf({ random: randomStream(1), tasks }), tasks, state);
  assert.deepEqual(named(chosen).sort(), ["b", "d"]);
});
