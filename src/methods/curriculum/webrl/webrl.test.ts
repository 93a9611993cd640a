import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { fromFailures, sharedWords } from "./fromFailures.ts";
import { webrl } from "./method.ts";
import { mixedAdvantage, squaredLogRatio } from "./phasePolicy.ts";
import { shop, shopPolicy } from "./shop.ts";
import { meanProbabilities } from "./withSuccesses.ts";

obeysTheLaws(() => shop(1), { garbage: 0.15 });

const near = (got: number, want: number, by = 1e-6): void =>
  assert.ok(Math.abs(got - want) < by, `${got} for ${want}`);

test("mixedAdvantage: half a step, half the whole return, and the critic's targets", () => {
  const t = trajectoryOf("t", [turnOf([1], [2, 3]), turnOf([1], [4])]);
  const annotated: AnnotatedExperience = {
    trajectories: [t],
    units: [],
    // V: 0.2 before the first turn, 0.5 before the second
    notes: { value: new Map([["t", Float32Array.of(0.2, 9, 0.5)]]) },
    signals: [],
    channels: { outcome: [{ at: { trajectory: "t", turn: 1 }, value: 1 }] },
  };
  const { advantages, columns } = mixedAdvantage(0.25).apply(annotated, null, undefined);
  const [a, b, c] = advantages.get("t")!;
  near(a!, 0.25 * (0.5 - 0.2) + 0.75 * (1 - 0.2));
  assert.equal(b, a);
  near(c!, 0.25 * (1 - 0.5) + 0.75 * (1 - 0.5));
  assert.deepEqual([...columns!.return!.get("t")!], [1, Number.NaN, 1]);
});

const batch = batchOfRows([
  { behaviour: [-0.5, -1, -0.2], advantage: [0.4, 0.4, -0.3], turn: [0, 0, 1] },
  { behaviour: [-0.7], advantage: [0.8] },
  { behaviour: [-0.7], advantage: [5], weight: [0] },
]);
const columns = { "previous.logp": Float32Array.of(-0.6, -0.9, -0.4, -1, -1) };

test("squaredLogRatio: log-ratios summed over an action, mean over actions", async () => {
  const objective = squaredLogRatio(2);
  const known = { ...batch, columns };
  const turns = await objective.prepare(ctxOf({}), known);
  assert.equal(turns, 3);
  const logp = Float32Array.of(-0.5, -0.5, -0.3, -0.9, -0.1);
  const { loss, cotangents } = objective.evaluate({ logp, heads: {} }, known, turns);
  // ratios 0.5, 0.1 and 0.1: gaps 2 · 0.5 − 0.4, 2 · 0.1 + 0.3, 2 · 0.1 − 0.8
  near(loss, (0.6 ** 2 + 0.5 ** 2 + 0.6 ** 2) / 3);
  const slopes = [0.6, 0.6, 0.5, -0.6, 0].map((gap) => (2 * 2 * gap) / 3);
  cotangents.logp!.forEach((slope, a) => void near(slope, slopes[a]!));
});

agrees("squaredLogRatio", squaredLogRatio(0.7), ({ behaviour_A }) => ({
  "previous.logp": behaviour_A.map((x, a) => x + ((a % 3) - 1) / 4),
}));

test("sharedWords: shared over all words", () => {
  const of = (content: string): Task => ({
    id: content,
    prompt: [{ role: "user", content }],
    metadata: {},
    seed: 1,
  });
  assert.equal(sharedWords(of("a b c"), of("b c d")), 2 / 4);
  assert.equal(sharedWords(of("a"), of("a")), 1);
  assert.equal(sharedWords(of(""), of("")), 1);
});

test("fromFailures: the next phase takes tasks like the failed ones that the critic finds neither hopeless nor solved", async () => {
  const names = ["red one", "red two", "red three", "blue one", "blue two"];
  const tasks = names.map(
    (content): Task => ({ id: content, prompt: [{ role: "user", content }], metadata: {}, seed: 1 }),
  );
  const values = Float32Array.of(0.5, 0.9, 0.3, 0.5, 0.01);
  const data = fromFailures({ tasks: 5, phase: 2, pool: 2 });
  const at = (iteration: number) =>
    ctxOf({
      random: randomStream(1),
      clock: { iteration, phase: "train", step: 0 },
      task: (id) => tasks.find((task) => task.id === id)!,
      model: (() => ({
        codec: { open: () => Int32Array.of(1, 2), endId: 0 },
        score: async () => ({ logp: new Float32Array(5), heads: { value: values } }),
      })) as unknown as ReturnType<typeof ctxOf>["model"],
    });
  let state = data.init(tasks);
  const first = await data.choose(at(0), tasks, state);
  assert.equal(first.tasks.length, 5);
  const ended = (id: string, success: boolean) =>
    trajectoryOf(id, [turnOf([1], [2])], { task: id, end: { kind: "done", reason: "over", success } });
  state = await data.observe(
    at(0),
    {
      trajectories: [ended("red two", false), ended("blue one", true), ended("blue one", false)],
      units: [],
      notes: {},
      signals: [],
      channels: {},
    },
    first.next,
  );
  assert.deepEqual(state.failed, ["red two"]);
  const next = await data.choose(at(2), tasks, state);
  // "red two" itself is valued too highly; of the others the red ones share a word with it
  assert.deepEqual(next.tasks.map(({ id }) => id).toSorted(), ["red one", "red three"]);
  assert.deepEqual(next.next.failed, []);
});

test("meanProbabilities: over an attempt's tokens", async () => {
  const attempts = [trajectoryOf("a", [turnOf([1], [2, 3])]), trajectoryOf("b", [turnOf([1], [4])])];
  const policy = {
    score: async () => ({ logp: Float32Array.of(Math.log(0.2), Math.log(0.6), Math.log(0.9)), heads: {} }),
  };
  const [a, b] = await meanProbabilities(policy, attempts);
  near(a!, 0.4);
  near(b!, 0.9);
});

test("successes come back, and the log-ratio begins again with each phase", async () => {
  const { curve } = await trainInMemory({
    environment: shop(1),
    engine: tabularEngine(shopPolicy),
    method: webrl.build(
      { tasks: 8, groupSize: 4, optimiser: "sgd", learningRate: 30, criticRate: 0.1, gradientClip: 1e9 },
      { phase: 3, beta: 0.3 },
    ),
    seed: 1,
    iterations: 9,
  });
  assert.equal(curve[0]!.replayed, 0);
  assert.ok(curve.some(({ replayed }) => (replayed ?? 0) > 0));
  assert.equal(curve[3]!["squaredLogRatio.ratio"], 0);
  assert.notEqual(curve[4]!["squaredLogRatio.ratio"], 0);
});
