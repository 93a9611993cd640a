/** A watched run: in the hackable world it is stopped, with the weights of its best audits; where there is nothing to hack it is not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Evaluator } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import { expectedValue, meanOver } from "../../src/diagnose/replyProbabilities.ts";
import { method } from "../../src/method/method.ts";
import { train } from "../../src/train/run.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";
import { drawn, paidIn } from "../../src/train/watching.ts";
import type { WatchOptions } from "../../src/train/watchOptions.ts";
import { asEvaluator, hackableEngine, hackableModels, paying } from "../../src/worlds/arms/hackable.ts";
import { hackable } from "../../src/worlds/hackable.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";
import { folder, withCode } from "./world.ts";

const seed = 107;
const settings = { ...plainAscent, tasks: 6, groupSize: 16, learningRate: 3 } as const;
const parts = (room: number, of = seed) => {
  const world = hackable({ room, seed: of });
  const models = hackableModels(world, { seed: of });
  const recipe = method({
    id: "paid",
    family: "judges",
    summary: "paid by a reward model",
    slots: { feedback: paying(models.one) },
  });
  return { world, models, paid: recipe.build(settings) };
};
const run = (room: number, watch: (made: ReturnType<typeof parts>) => WatchOptions, iterations = 80) => {
  const made = parts(room);
  return trainInMemory({
    environment: made.world,
    method: made.paid,
    engine: hackableEngine(made.world),
    seed,
    iterations,
    watch: watch(made),
  });
};

test("a run that exploits its reward model is ended by reviewers' labels; one that cannot goes to its end", async () => {
  const hacked = await run(0.7, ({ world }) => ({ audit: world.reviewer }));
  assert.ok(hacked.curve.length < 60, `${hacked.curve.length} iterations`);
  assert.equal(hacked.curve.at(-1)!["watch.alarm"], 1);
  assert.equal(hacked.curve.at(-2)!["watch.alarm"], 0);
  assert.ok(hacked.curve.at(-1)!["watch.paid"]! > hacked.curve[0]!["watch.paid"]!);
  assert.equal(hacked.counters["judge.calls"], 8 * hacked.curve.length);
  const honest = await run(0, ({ world }) => ({ audit: world.reviewer }));
  assert.equal(honest.curve.length, 80);
  assert.equal(honest.curve.at(-1)!["watch.alarm"], 0);
});

test("scores of a reward model are no labels, though some lie from 0 to 1: none is wrong, and no run collapses by them", async () => {
  const watch = ({ world }: ReturnType<typeof parts>): WatchOptions => ({
    audit: world.reviewer,
    onAlarm: "warn",
  });
  const { curve } = await run(0, watch);
  assert.ok(curve.some((metrics) => metrics["watch.paid"]! > 0 && metrics["watch.paid"]! < 1));
  assert.ok(
    curve.every((metrics) => metrics["watch.noise"] === undefined && metrics["watch.collapse"] === 0),
  );
});

test("a watch that only warns changes nothing of the run", async () => {
  const plain = await run(0.7, ({ world }) => ({ audit: world.reviewer, onAlarm: "warn" }), 40);
  const { world, paid } = parts(0.7);
  const bare = await trainInMemory({
    environment: world,
    method: paid,
    engine: hackableEngine(world),
    seed,
    iterations: 40,
  });
  const rewards = (of: typeof bare) => of.curve.map(({ reward, entropy }) => [reward, entropy]);
  assert.deepEqual(rewards(plain), rewards(bare));
});

test("distance to the beginning and disagreement of reward models are measured; distance alone can end a run", async () => {
  const { curve } = await run(0, ({ world, models }) => ({
    audit: "environment",
    models: models.members.map((model, m) => asEvaluator(`model ${m}`, model)),
    distance: 3,
    ...{ world },
  }));
  const last = curve.at(-1)!;
  assert.ok(last["watch.distance"]! > 3 && last["watch.alarm"] === 1 && curve.length < 60);
  assert.equal(Math.round(curve[0]!["watch.distance"]! * 1e6), 0);
  assert.ok(last["watch.disagreement"]! > curve[0]!["watch.disagreement"]!);
  assert.equal(last["watch.audited"], 8);
});

test("an audit that fails is counted, is no 0 and ends no run", async () => {
  const lost: Evaluator = { name: "lost", score: async () => undefined };
  const { curve, counters } = await run(0.7, () => ({ audit: lost }), 20);
  assert.equal(curve.length, 20);
  assert.equal(counters["judge.failures"], 160);
  assert.ok(curve.every((m) => m["watch.audited"] === 0 && m["watch.audit"] === undefined));
});

test("a stopped run keeps the weights of its best audits, says why, and its health shows it", async () => {
  const { world, paid } = parts(0.7);
  const out = folder();
  const said: string[] = [];
  const summary = await train(
    {
      environment: world,
      method: paid,
      engine: hackableEngine(world),
      seed,
      iterations: 80,
      warmStart: false,
      evaluation: { tasks: 6, every: 0 },
      watch: { audit: "environment", audits: 16 },
      out,
    },
    (event) => void (event.type === "warning" && said.push(event.message)),
    new AbortController().signal,
  );
  assert.ok(summary.iterations < 60);
  const alarm = said.find((message) => message.includes("exploits what pays it"));
  assert.match(alarm ?? "", /rose from .* while audits fell from .* Training ends here\./);
  assert.deepEqual(
    summary.health.findings.map(({ check }) => check).filter((check) => check === "watch"),
    ["watch"],
  );
  const engine = hackableEngine(world);
  const kept = await engine.open("kept", summary.weights.replace(/\/model\.safetensors$/, ""));
  const gold = await meanOver(world.tasks("train"), (task) =>
    expectedValue(kept, task, world.replies, (reply) => world.goldOf(task, reply)),
  );
  assert.ok(gold > 0.2, `gold ${gold} of the weights that were kept`);
});

test("wrong settings of a watch say what belongs there", async () => {
  for (const watch of [{ audits: 0 }, { every: 1.5 }, { error: 1 }, { distance: -1 }] as const) {
    const failed = run(0.7, ({ world }) => ({ audit: world.reviewer, ...watch }));
    await assert.rejects(failed, withCode("option.range"));
  }
  await assert.rejects(
    run(0.7, () => ({ audit: { name: "only compares" } })),
    withCode("capability.missing"),
  );
});

test("attempts to audit are of different tasks before a second one of any", () => {
  const played = ["a", "a", "a", "b", "c"].map((task, i) => ({
    ...trajectoryOf(`t${i}`, [turnOf([1], [2])]),
    task,
  }));
  for (let s = 0; s < 20; s++) {
    const three = drawn(played, 3, randomStream(s)).map(({ task }) => task);
    assert.deepEqual(three.toSorted(), ["a", "b", "c"]);
  }
  assert.equal(drawn(played, 99, randomStream(1)).length, 5);
  assert.deepEqual(drawn([], 3, randomStream(1)), []);
});

test("what is paid is the sum of rewards and scores about one attempt; other signals pay nothing", () => {
  const about = (trajectory: string) => [{ trajectory }];
  const paid = paidIn([
    { kind: "reward", channel: "x", source: "s", about: about("a"), value: 2 },
    { kind: "score", channel: "y", source: "s", about: [{ trajectory: "a", turn: 1 }], value: -0.5 },
    {
      kind: "preference",
      channel: "x",
      source: "s",
      about: [...about("a"), ...about("b")],
      best: 0,
      value: 1,
    },
    { kind: "critique", channel: "x", source: "s", about: about("b"), text: "bad", value: 1 },
  ]);
  assert.deepEqual([...paid], [["a", 1.5]]);
});
