import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { habitsPolicy, habitual, rightAnswer } from "./habits.ts";
import { oneShotRlvr } from "./method.ts";
import { copied, type MostVaryingOptions, mostVarying, rankedByVariance } from "./mostVarying.ts";

obeysTheLaws(() => habitual({ questions: 8 }), { garbage: 0.15 });

const task = (id: string): Task => ({ id, prompt: [], metadata: {}, seed: 1 });

test("rankedByVariance: by the variance over passes, whatever the mean", () => {
  // variances 0, 0.04, 0.01
  const means = { solved: [1, 1], moved: [0.1, 0.5], slow: [0.4, 0.6] };
  const of = (rank: "most varying" | "least varying" | "random") =>
    rankedByVariance(means, rank, randomStream(1));
  assert.deepEqual(of("most varying"), ["moved", "slow", "solved"]);
  assert.deepEqual(of("least varying"), ["solved", "slow", "moved"]);
  assert.deepEqual(of("random").toSorted(), ["moved", "slow", "solved"]);
});

test("copied: fills a batch in turn, each copy with an id of its own", () => {
  const copies = copied([task("a"), task("b")], 5);
  assert.deepEqual(
    copies.map(({ id }) => id),
    ["a", "b", "a#2", "b#3", "a#4"],
  );
  assert.equal(copies[2]!.metadata.variantOf, "a");
});

/** Chosen ids by iteration, on tasks whose mean reward in pass e is means[id][e]. */
async function chosenWith(options: MostVaryingOptions, means: Readonly<Record<string, readonly number[]>>) {
  const tasks = Object.keys(means).map(task);
  const data = mostVarying(options);
  let state = data.init(tasks);
  const visits: Record<string, number> = {};
  const chosenIds: string[][] = [];
  for (let i = 0; i < 6; i++) {
    const ctx = ctxOf({ random: randomStream(i), tasks });
    const chosen = await data.choose(ctx, tasks, state);
    chosenIds.push(chosen.tasks.map(({ id }) => id));
    const trajectories = chosen.tasks.flatMap(({ id }) => {
      const visit = visits[id] ?? 0;
      visits[id] = visit + 1;
      const mean = means[id]?.[visit] ?? 0;
      // two attempts whose mean is the pass's, and one that failed, which does not count
      return [mean, mean, 1].map((outcome, j) =>
        trajectoryOf(`${i}/${id}/${j}`, [turnOf([1], [2], { rewards: { outcome } })], {
          task: id,
          ...(j === 2 && { end: { kind: "failed", boundary: "environment", message: "broke" } as const }),
        }),
      );
    });
    const annotated: AnnotatedExperience = { trajectories, units: [], notes: {}, signals: [], channels: {} };
    state = await data.observe(ctx, annotated, JSON.parse(JSON.stringify(chosen.next)));
  }
  return { chosenIds, state };
}

test("passes over all tasks come first, then the task of the largest variance fills every batch", async () => {
  const { chosenIds, state } = await chosenWith(
    { tasks: 2, passes: 2 },
    { a: [0.5, 0.5], b: [0.2, 0.8], c: [0, 0.1], d: [1, 1] },
  );
  assert.deepEqual(chosenIds.slice(0, 2).flat().toSorted(), ["a", "b", "c", "d"]);
  assert.deepEqual(chosenIds.slice(2, 4).flat().toSorted(), ["a", "b", "c", "d"]);
  assert.deepEqual(chosenIds.slice(4), [
    ["b", "b#1"],
    ["b", "b#1"],
  ]);
  assert.deepEqual(state.means.b, [0.2, 0.8], "means after the choice are not recorded");
});

test("the first policy checks one time in five, and an answer is as probable as its kind says", async () => {
  const done = await trainInMemory({
    environment: habitual({ seed: 3 }),
    engine: tabularEngine(habitsPolicy(3)),
    method: oneShotRlvr.build({ tasks: 2, groupSize: 2 }),
    seed: 1,
    iterations: 0,
  });
  for (const asked of habitual({ seed: 3 }).tasks("test").slice(0, 6)) {
    const chance = { easy: 0.95, hopeless: 0.02, useful: 0.9 }[String(asked.metadata.kind)]!;
    const [checked] = await replyProbabilities(done.policy, asked, [`check ${rightAnswer(asked)}`]);
    assert.ok(Math.abs(checked! - 0.2 * chance) < 1e-6, `${checked}`);
  }
});
