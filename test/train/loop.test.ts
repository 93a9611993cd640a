/** The loop itself: stages in their order, lists, phases, frozen and further models. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Json } from "../../src/core/json.ts";
import type { Objective } from "../../src/core/objective.ts";
import type { Advantage, Data, Method, Slots } from "../../src/core/slots.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { method } from "../../src/method/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { methods } from "../../src/methods/catalogue.ts";
import { klPenalty } from "../../src/objective/klPenalty.ts";
import { likelihood } from "../../src/objective/likelihood.ts";
import type { RunOptions } from "../../src/train/run.ts";
import { folder, runIn, settings, spied, traceOf, withCode } from "./world.ts";

const base = grpo.build({ tasks: 2, groupSize: 4, learningRate: 0.3 });
const methodWith = (slots: Partial<Slots>, more: Partial<Method> = {}): Method => ({
  ...base,
  id: "made-here",
  ...more,
  slots: { ...base.slots, ...slots },
});
const options = (chosen: Method, more: Partial<RunOptions> = {}): RunOptions => ({
  ...settings("tabular"),
  method: chosen,
  warmStart: false,
  evaluation: { tasks: 1, every: 0 },
  ...more,
});

test("stages come in the order of the picture, each with what the ones before it made; lists run whole", async () => {
  const seen: string[] = [];
  const { slots } = base;
  const note = <T>(name: string, made?: T): T => {
    seen.push(name);
    return made as T;
  };
  const data: Data = {
    ...slots.data,
    choose: (...args) => note("choose", slots.data.choose(...args)),
    observe(ctx, annotated, state) {
      note("observe");
      assert.deepEqual(Object.keys(annotated.channels).sort(), ["outcome", "twice"]);
      return slots.data.observe(ctx, annotated, state);
    },
  };
  const advantage = (name: string): Advantage => ({
    ...slots.advantage[0]!,
    name,
    apply(annotated, state, soFar) {
      note(name);
      assert.equal(soFar === undefined, name === "first");
      return slots.advantage[0]!.apply(annotated, state, soFar);
    },
  });
  await runIn(
    folder(),
    options(
      methodWith({
        data,
        rollout: (ctx) => note("rollout", slots.rollout(ctx)),
        annotate: [
          async (_, { trajectories }) => {
            note("annotate");
            return { length: new Map(trajectories.map((t) => [t.id, Float32Array.of(t.turns.length)])) };
          },
          async () => ({ empty: new Map() }),
        ],
        feedback: [
          ...slots.feedback,
          async (_ctx, _experience, notes) => {
            note("feedback");
            assert.deepEqual(Object.keys(notes), ["length", "empty"]);
            return [];
          },
        ],
        credit: [
          (annotated) => note("credit", slots.credit[0]!(annotated)),
          ({ trajectories }) => ({
            twice: trajectories.map((t) => ({ at: { trajectory: t.id }, value: 1 })),
          }),
          ({ trajectories }) => ({
            twice: trajectories.map((t) => ({ at: { trajectory: t.id }, value: 2 })),
          }),
        ],
        advantage: [
          advantage("first"),
          {
            ...advantage("second"),
            apply(annotated, state, soFar) {
              // channels of one name from two pieces are one channel
              assert.equal(annotated.channels.twice!.length, 2 * annotated.trajectories.length);
              return advantage("second").apply(annotated, state, soFar);
            },
          },
        ],
        update: (...args) => note("update", slots.update(...args)),
      }),
      { iterations: 2 },
    ),
  );
  const once = [
    "choose",
    "rollout",
    "annotate",
    "feedback",
    "credit",
    "first",
    "second",
    "update",
    "observe",
  ];
  assert.deepEqual(seen, [...once, ...once]);
});

/** An estimator that counts how often it was asked, and refuses a state that is not its own. */
const counting = (name: string, states: string[]): Advantage => ({
  name,
  init: (): Json => ({ of: name, calls: 0 }),
  apply(annotated, state, soFar) {
    const { of, calls } = state as { of: string; calls: number };
    assert.equal(of, name);
    states.push(`${name} ${calls}`);
    return { ...base.slots.advantage[0]!.apply(annotated, null, soFar), next: { of, calls: calls + 1 } };
  },
});

test("phases replace slots from their iteration on, are named by the clock, and keep their states apart", async () => {
  const clocks: string[] = [];
  const states: string[] = [];
  const data = (name: string): Data => ({
    name,
    init: () => ({ of: name }),
    async choose({ clock }, tasks, state) {
      assert.deepEqual(state, { of: name });
      clocks.push(`${clock.iteration} ${clock.phase} ${name}`);
      return { tasks: tasks.slice(0, 2), next: state };
    },
    observe: async (_ctx, _evidence, state) => state,
  });
  const phased = methodWith(
    { data: data("one"), advantage: [counting("a", states)] },
    {
      // the order in the list does not matter
      phases: [
        { name: "late", from: 3, slots: { advantage: [counting("a", states)] } },
        { name: "middle", from: 1, slots: { data: data("two"), advantage: [counting("b", states)] } },
      ],
    },
  );
  const stopping = new AbortController();
  const root = folder();
  await assert.rejects(
    runIn(root, options(phased), {
      stop: stopping.signal,
      onEvent: (e) => e.type === "iteration" && e.iteration === 2 && stopping.abort(),
    }),
  );
  clocks.pop(); // begun and stopped
  states.splice(2);
  await runIn(root, options(phased, { resume: true }));
  assert.deepEqual(clocks, ["0 train one", "1 middle two", "2 middle two", "3 late two"]);
  assert.deepEqual(states, ["a 0", "b 0", "b 1", "a 1"]);
});

test("a phase with an end gives its slots back, and phases may depend on the settings", async () => {
  const states: string[] = [];
  const { slots: _none, options: _own, ...rest } = base;
  const recipe = method({
    ...rest,
    slots: { advantage: counting("own", states) },
    phases: ({ groupSize }) => [
      { name: "first", from: 0, until: 2, slots: { advantage: counting(`of ${groupSize}`, states) } },
    ],
  });
  await runIn(folder(), options(recipe.build({ groupSize: 3 })));
  assert.deepEqual(states, ["of 3 0", "of 3 1", "own 0", "own 1"]);
});

/** A policy held near a blended copy of itself, and a second model that imitates it. */
const { slots: _, ...about } = base;
const crowded: Method = {
  ...about,
  ...method({
    id: "crowded",
    family: "test",
    summary: "frozen and further models",
    needs: ["freeze", "fork"],
    frozen: { reference: {}, average: { blend: 0.5 } },
    models: { apprentice: { from: "policy" }, novice: { from: "fresh" } },
    slots: {
      objective: [
        ...base.slots.objective,
        klPenalty({ to: "reference", coefficient: 0.1 }),
        klPenalty({ to: "average", coefficient: 0.1 }),
        { ...likelihood(), name: "apprentice", model: "apprentice" } as Objective,
        { ...likelihood(), name: "novice", model: "novice" } as Objective,
      ],
    },
  }).build({ tasks: 2, groupSize: 4, learningRate: 0.3 }),
};

test("frozen and further models are there from the first iteration, and survive a crash at any step", async () => {
  const whole = folder();
  const plan = { ...settings("tabular"), method: crowded };
  const { events } = await runIn(whole, plan);
  const expected = await traceOf(whole);
  const last = events.filter((e) => e.type === "iteration").at(-1)!;
  assert.ok((last.metrics["klPenalty.kl"] ?? 0) > 0, Object.keys(last.metrics).join());
  const saved = readdirSync(`${whole}/run/checkpoints`).at(-1)!;
  assert.deepEqual(readdirSync(`${whole}/run/checkpoints/${saved}/models`), [
    "apprentice",
    "novice",
    "policy",
  ]);
  assert.deepEqual(readdirSync(`${whole}/run/checkpoints/${saved}/frozen`), ["average", "reference"]);

  for (const checkpointSeconds of [0, 1000]) {
    const root = folder();
    const resumed = { ...plan, checkpointSeconds };
    // in the warm start; between it and the first iteration; in the first and in a later update
    for (const [i, [call, nth]] of (
      [
        ["step", 3],
        ["sample", 1],
        ["step", 2],
        ["step", 9],
      ] as const
    ).entries()) {
      let calls = 0;
      const engine = spied(tabularEngine(), (name) => {
        if (name === call && ++calls === nth) throw new Error("crash");
      });
      await assert.rejects(runIn(root, { ...resumed, engine, resume: i > 0 }), /crash/, `${call} ${nth}`);
    }
    await runIn(root, { ...resumed, resume: true });
    assert.deepEqual(await traceOf(root), expected, `checkpoints every ${checkpointSeconds} s`);
  }
});

test("a piece that asks for what its method did not declare is one clear error", async () => {
  const asking = methodWith({ objective: [...base.slots.objective, klPenalty()] });
  await assert.rejects(
    runIn(folder(), options(asking)),
    withCode("capability.missing", /"reference".*there are none.*`frozen`/),
  );
  const needy = methodWith({}, { needs: ["tokens", "hidden"] });
  await assert.rejects(
    runIn(folder(), options(needy)),
    withCode("capability.missing", /made-here.*no hidden/),
  );
});

test("nothing in train branches on a method, and the loop fits on a page or two", () => {
  const train = new URL("../../src/train/", import.meta.url);
  const source = (name: string): string => readFileSync(new URL(name, train), "utf8");
  for (const name of readdirSync(train)) {
    for (const { id } of methods) assert.ok(!source(name).includes(`"${id}"`), `${name} names ${id}`);
    assert.doesNotMatch(source(name), /method\.(id|family) ?[=!]==/, name);
  }
  const lines = source("loop.ts").split("\n");
  assert.ok(lines.length <= 120, `loop.ts has ${lines.length} lines`);
});
