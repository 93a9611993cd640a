import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { mapById } from "../../../common/mapById.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { forms } from "./forms.ts";
import { gradedSteps, gradeOf } from "./gradedSteps.ts";
import { binOf, type ShortFirstOptions, shortFirst, stepsOf } from "./shortFirst.ts";

obeysTheLaws(() => forms({ each: 2, lengths: [1, 3] }), { garbage: 0.1 });

const near = (got: number | undefined, want: number): void =>
  assert.ok(Math.abs(got! - want) < 1e-9, `${got} for ${want}`);
const paying = (rewards: Readonly<Record<string, number>>) => turnOf([1], [2], { rewards });

test("gradeOf: arguments count only for the right type", () => {
  near(gradeOf(paying({ format: 1, type: 1, argument: 0.5 }), {}), 0.1 + 0.3 + 0.3);
  near(gradeOf(paying({ format: 1, type: 0, argument: 1 }), {}), 0.1);
  near(gradeOf(paying({ format: 0, type: 1 }), {}), 0.3);
  assert.equal(gradeOf(paying({ outcome: 1 }), {}), undefined);
});

test("gradedSteps: the mean over actions with a type; other episodes keep what they earn", async () => {
  const graded = trajectoryOf("a", [
    paying({ format: 1, type: 1, argument: 1 }),
    paying({ format: 1, type: 0, argument: 1, outcome: 0 }),
  ]);
  const judged = trajectoryOf("b", [paying({}), paying({ outcome: 0.7 })]);
  const signals = await gradedSteps()(ctxOf({}), { trajectories: [graded, judged], units: [] }, {});
  near(signals[0]!.kind === "reward" ? signals[0]!.value : undefined, 0.55);
  near(signals[1]!.kind === "reward" ? signals[1]!.value : undefined, 0.7);
});

const form = (steps: number, index = 0): Task => ({
  id: `${steps}.${index}`,
  prompt: [],
  metadata: { steps },
  seed: 1,
});

test("stepsOf: what the task says, else the words of its reference; bins by length", () => {
  assert.equal(stepsOf(form(4)), 4);
  assert.equal(stepsOf({ id: "t", prompt: [], metadata: {}, reference: "a b c", seed: 1 }), 3);
  assert.equal(stepsOf({ id: "t", prompt: [], metadata: {}, seed: 1 }), 1);
  assert.deepEqual(
    [1, 3, 4, 8, 9].map((steps) => binOf(form(steps), [3, 8])),
    [0, 0, 1, 1, 2],
  );
});

/** Every attempt succeeds or none does, by iteration. @returns the lengths that were chosen. */
async function lengths(successes: readonly boolean[], options: Partial<ShortFirstOptions> = {}, tasks = all) {
  const data = shortFirst({ tasks: 4, perStage: 2, earlier: 0.25, ...options });
  let state = data.init(tasks);
  const chosen = [];
  for (const [i, success] of successes.entries()) {
    const ctx = ctxOf({ random: randomStream(i), task: (id) => mapById(tasks).get(id)! });
    const made = await data.choose(ctx, tasks, state);
    chosen.push(made.tasks.map(stepsOf).sort((a, b) => a - b));
    const trajectories = made.tasks.map((task) =>
      trajectoryOf(task.id, [], { task: task.id, end: { kind: "done", reason: "over", success } }),
    );
    const annotated: AnnotatedExperience = { trajectories, units: [], notes: {}, signals: [], channels: {} };
    state = await data.observe(ctx, annotated, JSON.parse(JSON.stringify(made.next)));
  }
  return chosen;
}
const all = [2, 5, 9].flatMap((steps) => Array.from({ length: 6 }, (_, i) => form(steps, i)));

test("shortFirst: a bin at a time with a quarter of earlier ones, then all", async () => {
  const got = await lengths([false, false, false, false, false, false, false, false]);
  assert.deepEqual(got.slice(0, 6), [[2, 2, 2, 2], [2, 2, 2, 2], [2, 5, 5, 5], [2, 5, 5, 5], got[4], got[5]]);
  for (const late of got.slice(4, 6)) assert.deepEqual(late!.slice(1), [9, 9, 9]);
  assert.equal(got[6]!.length, 4);
});

test("shortFirst: a stage ends at once where most succeed; bins without tasks are passed over", async () => {
  const got = await lengths([true, true, false], { earlier: 0 });
  assert.deepEqual(got, [
    [2, 2, 2, 2],
    [5, 5, 5, 5],
    [9, 9, 9, 9],
  ]);
  const long = all.filter((task) => stepsOf(task) === 9);
  assert.deepEqual((await lengths([false], {}, long))[0], [9, 9, 9, 9]);
});
