/** What evaluation sees, whatever a curriculum does in training: the held-out tasks as they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ErrorCode, isWhetstoneError } from "../../src/core/errors.ts";
import type { Json } from "../../src/core/json.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Data, Method, Rollout } from "../../src/core/slots.ts";
import type { Task } from "../../src/core/types.ts";
import { asProposed } from "../../src/data/proposed.ts";
import { type UniformState, uniform } from "../../src/data/uniform.ts";
import { posed } from "../../src/data/variants.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { method, type Recipe, type SlotChoices } from "../../src/method/method.ts";
import { rloo } from "../../src/methods/baseline/rloo/method.ts";
import { methods } from "../../src/methods/catalogue.ts";
import { type ClimbingState, climbing } from "../../src/methods/curriculum/cog-drift/climbing.ts";
import { type ValueState, valueChosen } from "../../src/methods/curriculum/pcl/valueChosen.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { evaluate } from "../../src/train/evaluate.ts";
import type { RunEvent } from "../../src/train/events.ts";
import { limitConcurrency } from "../../src/train/limit.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { secretsEngine } from "../../src/worlds/arms/secrets.ts";
import { chains } from "../../src/worlds/chains.ts";
import { secrets } from "../../src/worlds/secrets.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";
import { folder, runIn, tiny, traceOf } from "../train/world.ts";

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

/** Tables, or a tiny transformer for a method that reads hidden states. */
const engineFor = ({ needs }: Recipe): Engine =>
  needs.includes("hidden") ? tiny() : secretsEngine(worldOptions);

/** Small; a teacher writes a few short texts. */
const built = (recipe: Recipe): Method =>
  recipe.build(
    { tasks: 4, groupSize: 4, learningRate: 10, optimiser: "sgd", warmUp: 0 },
    "texts" in recipe.options ? { texts: 3, maxTokens: 5 } : {},
  );

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
    const engine = engineFor(recipe);
    const { policy, curve } = await trainInMemory({
      environment,
      engine,
      method: built(recipe),
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
    await engine.dispose();
  });
}

/** One reply with variants, hints and a reference; and several turns, from which restarts and stored beginnings are made. */
const resumed = {
  "one reply": { world: () => secrets(worldOptions), table: () => secretsEngine(worldOptions) },
  "several turns": {
    world: () => chains({ operations: ["plus1", "times2"], steps: 3, base: 3, seed: 5 }),
    table: () =>
      tabularEngine({ context: "message", prior: (_context, word) => (/^\d$/.test(word) ? 0 : -1e9) }),
  },
} as const;

for (const [turns, { world, table }] of Object.entries(resumed))
  for (const recipe of curricula) {
    test(`${recipe.id}, ${turns}: equal seeds give equal curricula, also where a run was stopped in the middle and resumed`, async () => {
      const run = {
        environment: world(),
        engine: recipe.needs.includes("hidden") ? tiny() : table(),
        method: built(recipe),
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
      await run.engine.dispose();
    });
  }

test("two in a row: tasks of middling value, each in the format that it has climbed to; their states stay apart, also over a resume", async () => {
  const inARow = method({
    ...{ id: "in-a-row", family: "test", summary: "two curricula in a row" },
    slots: ({ tasks }) => ({ data: climbing(valueChosen(uniform({ tasks: 2 * tasks }), { tasks })) }),
  });
  const { environment, started } = watched();
  const states: Json[] = [];
  await trainInMemory({
    environment,
    engine: secretsEngine(worldOptions),
    method: built(inARow),
    ...{ seed: 3, iterations: 6 },
    onIteration: (_done, { data }) =>
      void states.push(structuredClone(data["uniform, by value, in formats"]!)),
  });
  const { rungs, each } = states.at(-1) as unknown as ClimbingState<ValueState<UniformState>>;
  const climbed = Object.values(rungs);
  assert.ok(climbed.some(({ level }) => level > 0));
  // four of eight candidates are played in each of six iterations, and asked in an easier format until they are at the top
  assert.equal(
    climbed.reduce((sum, { visits }) => sum + visits, 0),
    24,
  );
  assert.equal(started.length, 24 * 4);
  assert.ok(started.some(({ metadata }) => metadata.variantOf !== undefined));
  assert.ok(Object.keys(each.values).length > 0);
  assert.deepEqual(Object.keys(each.each).toSorted(), Object.keys(uniform().init([])).toSorted());
  for (const id of Object.keys(rungs)) assert.ok(idsOf("train").has(id));

  const run = {
    ...{ environment: secrets(worldOptions), engine: secretsEngine(worldOptions), method: built(inARow) },
    ...{ seed: 3, iterations: 6, warmStart: false, contextTokens: 64, checkpointSeconds: 0 },
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

const failsWith =
  (code: ErrorCode, message: RegExp) =>
  (e: unknown): boolean =>
    isWhetstoneError(e) && e.code === code && message.test(e.message);

/** A training task and a held-out one of the same length. */
const [trained, heldOut] = ["train", "test"].map((split) => secrets(worldOptions).tasks(split)[1]!) as [
  Task,
  Task,
];
const asks = ({ prompt }: Task): string => prompt[0]!.content;

/** A run of GRPO with other pieces; what it counted, and what it started. */
async function planted(slots: SlotChoices, students: Method["students"] = undefined) {
  const { environment, started } = watched();
  const recipe = method({
    ...{ id: "planted", family: "test", summary: "a leak", slots },
    ...(students && { students }),
  });
  const { counters, curve } = await trainInMemory({
    environment,
    engine: secretsEngine(worldOptions),
    method: built(recipe),
    ...{ seed: 1, iterations: 1 },
  });
  return { counters, curve, started };
}

/** Always chooses these. */
const choosing = (tasks: readonly Task[]): Data<null> => ({
  name: "planted",
  init: () => null,
  choose: async () => ({ tasks, next: null }),
  observe: async (_ctx, _annotated, state) => state,
});

const leaks: Readonly<Record<string, Task>> = {
  "a held-out task": heldOut,
  "a proposal with the prompt of one": asProposed(trained, asks(heldOut), "proposed/0", "w1 w2 w3 w4"),
  "a proposal with its words and other spaces": asProposed(
    trained,
    ` ${asks(heldOut).replace(" ", "\n ")}`,
    "proposed/1",
  ),
  "a proposal with its prompt and the id of a training task": asProposed(trained, asks(heldOut), trained.id),
  "a variant of one": posed(heldOut, "four choice", 0),
  "a variant of one under another prompt": {
    ...posed(heldOut, "fill in", 1),
    prompt: [{ role: "user", content: "fill" }],
  },
};

for (const [what, task] of Object.entries(leaks)) {
  test(`a planted leak, ${what}: the data slot's choice is dropped and counted`, async () => {
    const { counters, started } = await planted({ data: choosing([trained, task]) });
    assert.equal(counters["tasks.refused"], 1);
    assert.deepEqual([...new Set(started.map(asks))], [asks(trained)]);
    assert.equal(counters.episodes, 4);
    await assert.rejects(
      planted({ data: choosing([task]) }),
      failsWith("task.none", /data "planted": got a choice of held-out tasks alone/),
    );
  });

  test(`a planted leak, ${what}: a piece cannot play it`, async () => {
    const rollout: Rollout = async (ctx) => ({
      trajectories: await ctx.play({ task, attempt: 0 }),
      units: [],
    });
    await assert.rejects(planted({ rollout }), failsWith("capability.missing", /got a held-out task/));
  });

  test(`a planted leak, ${what}: a student is not trained on it`, async () => {
    const rollout: Rollout = async (ctx) => {
      const model = await ctx.model().fork("fresh");
      await ctx.learn({
        student: "student",
        model,
        tasks: [task, task, trained],
        iterations: 1,
        measure: [],
      });
      await ctx.learn({ student: "student", model, tasks: [task], iterations: 3, measure: [] });
      await model.dispose();
      return { trajectories: [], units: [] };
    };
    const student = rloo.build({ tasks: 4, groupSize: 2 });
    const { counters, started } = await planted({ rollout }, { student });
    assert.equal(counters["tasks.refused"], 3);
    assert.deepEqual([started.length, ...new Set(started.map(asks))], [2, asks(trained)]);
  });
}

test("what asks the same as a training task may be trained on, whatever its id", async () => {
  const same = asProposed(trained, asks(trained), "proposed/2", trained.reference);
  const other = asProposed(trained, "q0 q1 q2", "proposed/3", "w1");
  const { counters, started } = await planted({ data: choosing([same, other]) });
  assert.equal(counters["tasks.refused"], undefined);
  assert.equal(started.length, 8);
});

test("a planted leak in a replay: an attempt at a held-out task ends the run before anything is learnt from it", async () => {
  const stored = trajectoryOf("stored", [turnOf([1], [2])], { task: heldOut.id, origin: "replayed" });
  const rollout: Rollout = async (ctx) => {
    const fresh = await multiTurn({ groupSize: 4 })(ctx);
    const units = [...fresh.units, { id: "stored", group: "stored", members: ["stored"] }];
    return { ...fresh, trajectories: [...fresh.trajectories, stored], units };
  };
  await assert.rejects(
    planted({ rollout }),
    failsWith("capability.missing", /trajectory "stored" of an iteration's experience: got a held-out task/),
  );
});
