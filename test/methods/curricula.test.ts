/** What evaluation sees, whatever a curriculum does in training: the held-out tasks as they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import type { Environment } from "../../src/env/environment.ts";
import { methods } from "../../src/methods/catalogue.ts";
import { evaluate } from "../../src/train/evaluate.ts";
import type { RunEvent } from "../../src/train/events.ts";
import { limitConcurrency } from "../../src/train/limit.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { secretsEngine } from "../../src/worlds/arms/secrets.ts";
import { secrets } from "../../src/worlds/secrets.ts";
import { folder, runIn, traceOf } from "../train/world.ts";

const worldOptions = { secrets: 6, lengths: [2, 4], success: [1e-3, 0.3], seed: 5 } as const;

/** The world, and every task that an episode was started for. */
function watched(): { readonly environment: Environment; readonly started: Task[] } {
  const world = secrets(worldOptions);
  const started: Task[] = [];
  const start: Environment["start"] = async (task, random) => {
    started.push(task);
    return world.start(task, random);
  };
  return { environment: { ...world, start }, started };
}

const curricula = methods.filter(({ family }) => family === "curriculum");

/** Of the method's own names for the tasks of a split, as an environment lists them. */
const idsOf = (split: string) =>
  new Set(
    secrets(worldOptions)
      .tasks(split)
      .map(({ id }) => id),
  );

test("there are curricula", () => assert.ok(curricula.length > 0));

for (const recipe of curricula) {
  test(`${recipe.id}: training never starts a held-out task, evaluation starts nothing else, and without any help`, async () => {
    const { environment, started } = watched();
    const { policy, curve } = await trainInMemory({
      environment,
      engine: secretsEngine(worldOptions),
      method: recipe.build({ tasks: 4, groupSize: 4, learningRate: 10, optimiser: "sgd", warmUp: 0 }),
      seed: 1,
      iterations: 6,
    });
    assert.equal(curve.length, 6);
    const [train, held] = [idsOf("train"), idsOf("test")];
    for (const { id, metadata } of started) {
      const original = typeof metadata.variantOf === "string" ? metadata.variantOf : id;
      assert.ok(!held.has(original), `${id} is held out`);
      assert.ok(train.has(original), `${id} is made of no training task`);
    }
    // no made task has a held-out secret either
    const secretsHeld = new Set(
      secrets(worldOptions)
        .tasks("test")
        .map(({ prompt }) => prompt[0]!.content),
    );
    for (const { prompt } of started) assert.ok(!secretsHeld.has(prompt[0]!.content));

    started.length = 0;
    const { trajectories } = await evaluate({
      environment,
      agent: policy,
      split: "test",
      mode: "sampled",
      tasks: 12,
      random: randomStream(2),
      limit: limitConcurrency(8),
      stop: new AbortController().signal,
    });
    assert.equal(trajectories.length, 12);
    const asTheyAre = new Map(
      secrets(worldOptions)
        .tasks("test")
        .map((task) => [task.id, task]),
    );
    for (const task of started) assert.deepEqual(task, asTheyAre.get(task.id), "a variant");
    for (const { task, turns, lineage, origin } of trajectories) {
      assert.equal(origin, "sampled");
      assert.equal(lineage, undefined, "a restart");
      for (const { prompt } of turns)
        assert.deepEqual(prompt, asTheyAre.get(task)!.prompt, "a hint or choices in the prompt");
    }
  });
}

for (const recipe of curricula) {
  test(`${recipe.id}: equal seeds give equal curricula, also where a run was stopped in the middle and resumed`, async () => {
    const run = {
      environment: secrets(worldOptions),
      engine: secretsEngine(worldOptions),
      method: recipe.build({ tasks: 4, groupSize: 4, learningRate: 10, optimiser: "sgd", warmUp: 0 }),
      seed: 3,
      iterations: 6,
      warmStart: false,
      contextTokens: 64,
      checkpointSeconds: 0,
      evaluation: { tasks: 4, every: 0 },
    } as const;
    const [whole, parts] = [folder(), folder()];
    await runIn(whole, run);
    const stopping = new AbortController();
    const onEvent = (event: RunEvent): void => {
      if (event.type === "iteration" && event.iteration === 3) stopping.abort();
    };
    await assert.rejects(runIn(parts, run, { stop: stopping.signal, onEvent }));
    await runIn(parts, { ...run, resume: true });
    assert.deepEqual(await traceOf(parts), await traceOf(whole));
  });
}
