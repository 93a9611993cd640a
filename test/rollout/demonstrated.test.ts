import assert from "node:assert/strict";
import { test } from "node:test";
import type { Experience } from "../../src/core/slots.ts";
import type { Trajectory } from "../../src/core/types.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { method } from "../../src/method/method.ts";
import { sft } from "../../src/methods/baseline/sft/method.ts";
import { type WithDemonstrationsOptions, withDemonstrations } from "../../src/rollout/demonstrated.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { packTrajectory, unpackTrajectory } from "../../src/store/turns.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { answers, rightOf } from "../../src/worlds/answers.ts";

const environment = answers({ questions: 3, vocabulary: 8 });
const isShown = (t: Trajectory): boolean => t.origin === "demonstrated";

async function oneIteration(options: WithDemonstrationsOptions) {
  const recipe = method({
    id: "mixed",
    family: "baseline",
    summary: "samples and demonstrations",
    defaults: { tasks: 2 },
    slots: { rollout: withDemonstrations(multiTurn({ groupSize: 4 }), options) },
  });
  const seen: Experience[] = [];
  const done = await trainInMemory({
    environment,
    method: recipe.build(),
    engine: tabularEngine(),
    seed: 1,
    iterations: 1,
    onIteration: ({ experience }) => void seen.push(experience),
  });
  return { ...done, experience: seen[0]! };
}

test("a demonstration is one more member of its task's group", async () => {
  const { experience, counters, curve } = await oneIteration({});
  const shown = experience.trajectories.filter(isShown);
  assert.equal(shown.length, 2);
  for (const t of shown) {
    const task = environment.tasks("train").find(({ id }) => id === t.task)!;
    assert.equal(t.turns[0]!.action.content, rightOf(task)[0]);
    const group = experience.units.find((u) => u.members.includes(t.id))!.group;
    assert.equal(experience.units.filter((u) => u.group === group).length, 5);
    assert.ok(t.turns[0]!.tokens!.behaviour.every(Number.isNaN));
  }
  // only what the policy did is counted as its doing
  assert.equal(counters.episodes, 8);
  assert.equal(counters.demonstrations, 2);
  const sampled = experience.trajectories.filter((t) => !isShown(t));
  const successes = sampled.filter((t) => t.end.kind === "done" && t.end.success).length;
  assert.equal(curve[0]!.success, successes / 8);
});

test("a demonstration is stored as it is, without log-probabilities", async () => {
  const { experience } = await oneIteration({});
  const shown = experience.trajectories.find(isShown)!;
  assert.deepEqual(unpackTrajectory(packTrajectory(shown)), shown);
});

test("or it stands in a group of its own", async () => {
  const { experience } = await oneIteration({ group: "own", perTask: 2 });
  const groups = Map.groupBy(experience.units, (u) => u.group);
  assert.deepEqual([...groups.values()].map((units) => units.length).sort(), [2, 2, 4, 4]);
});

test("an environment without the player is named", async () => {
  await assert.rejects(oneIteration({ player: "flawed" }), { code: "capability.missing" });
});

test("sft comes to write what the expert writes, and samples nothing", async () => {
  const { policy, counters, evaluate } = await trainInMemory({
    environment,
    method: sft.build({ tasks: 3, learningRate: 0.5, schedule: "constant", warmUp: 0, minibatches: 1 }),
    engine: tabularEngine(),
    seed: 1,
    iterations: 40,
  });
  assert.equal(counters.episodes, undefined);
  assert.equal(counters.demonstrations, 120);
  assert.equal((await evaluate("train", "greedy")).success.mean, 1);
  assert.equal(policy.version, "40");
});
