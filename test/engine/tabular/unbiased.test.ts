import assert from "node:assert/strict";
import { test } from "node:test";
import { groupNormalised } from "../../../src/advantage/groupNormalised.ts";
import { leaveOneOut } from "../../../src/advantage/leaveOneOut.ts";
import { runningBaseline } from "../../../src/advantage/runningBaseline.ts";
import { batchOf } from "../../../src/common/tokens/pack.ts";
import { sampledTurn } from "../../../src/common/tokens/turns.ts";
import { randomStream } from "../../../src/core/random.ts";
import type { Advantage, AnnotatedExperience } from "../../../src/core/slots.ts";
import { vocabularyCodec } from "../../../src/engine/tabular/codec.ts";
import {
  addScaled,
  type ByContext,
  exactPolicyGradient,
  possibleActions,
} from "../../../src/engine/tabular/exact.ts";
import { type TabularModel, tabularModel } from "../../../src/engine/tabular/model.ts";
import { newWeights } from "../../../src/engine/tabular/weights.ts";
import { clippedRatio } from "../../../src/objective/clippedRatio.ts";
import { policyGradient } from "../../../src/objective/policyGradient.ts";
import { ctxOf, evidenceOf, trajectoryOf } from "../../core/make.ts";

const codec = vocabularyCodec(["x y", "go"]);
const prompt = codec.open([{ role: "user", content: "go" }]);
const maxTokens = 2;

/** Uneven rewards, so that a wrong baseline shows. */
function rewardOf(action: Int32Array): number {
  const text = codec.decode(action);
  return text === "x y" ? 2 : text === "y" ? 1 : text.startsWith("x") ? -0.5 : 0.25;
}

async function policy(): Promise<TabularModel> {
  const model = tabularModel("policy", newWeights(codec, Number.POSITIVE_INFINITY), 16);
  const table = model.weights.part("logits");
  const random = randomStream("logits");
  for (const p of possibleActions(model, prompt, maxTokens))
    for (const context of p.score.keys()) table.row(context);
  table.array("weights").forEach((_, i, xs) => {
    xs[i] = 0.7 * random.split(i).normal();
  });
  model.weights.changed();
  return model;
}

function evidence(
  model: TabularModel,
  samples: Awaited<ReturnType<TabularModel["sample"]>>,
): AnnotatedExperience {
  const trajectories = samples.map((sample, i) =>
    trajectoryOf(`${i}`, [sampledTurn({ model, role: "agent", prompt, messages: [], sample })]),
  );
  return {
    ...evidenceOf([]),
    trajectories,
    units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
    channels: { outcome: samples.map((s, i) => ({ at: { trajectory: `${i}` }, value: rewardOf(s.action) })) },
  };
}

/** −gradient of the loss that the real pieces make of one group, scaled to a mean over its members. */
async function pieces(
  model: TabularModel,
  estimator: Advantage,
  seen: AnnotatedExperience,
  clipped: boolean,
): Promise<ByContext> {
  const state = estimator.name === "runningBaseline" ? { baseline: 0.4 } : estimator.init();
  const { advantages } = estimator.apply(seen, state, undefined);
  const { batch } = batchOf(seen.trajectories, seen.units, advantages);
  const normaliser = { constant: 1 };
  if (clipped) {
    const objective = clippedRatio({ normaliser });
    await model.accumulate(batch, objective, await objective.prepare(ctxOf({}), batch));
  } else {
    const objective = policyGradient({ normaliser });
    await model.accumulate(batch, objective, await objective.prepare(ctxOf({}), batch));
  }
  const out: ByContext = new Map();
  addScaled(out, model.gradientByContext(), -1);
  await model.step({ learningRate: 0 }); // empties the buffer, moves nothing
  return out;
}

const flat = (model: TabularModel, by: ByContext): number[] =>
  [...model.weights.part("logits").rows.keys()].flatMap((c) => [
    ...(by.get(c) ?? new Float64Array(model.weights.width)),
  ]);

/** Every mean within `limit` standard errors of what is expected. */
function within(sums: number[], squares: number[], n: number, expected: number[], limit: number): void {
  expected.forEach((want, i) => {
    const mean = sums[i]! / n;
    const error = Math.sqrt(Math.max(0, squares[i]! / n - mean * mean) / n);
    assert.ok(Math.abs(mean - want) <= limit * error + 1e-6, `[${i}] ${mean} ± ${error}, expected ${want}`);
  });
}

test("possibleActions has probabilities that sum to 1 and scores whose mean is 0", async () => {
  const model = await policy();
  const all = possibleActions(model, prompt, maxTokens);
  assert.ok(Math.abs(all.reduce((s, p) => s + p.probability, 0) - 1) < 1e-12);
  const mean: ByContext = new Map();
  for (const p of all) addScaled(mean, p.score, p.probability);
  for (const x of flat(model, mean)) assert.ok(Math.abs(x) < 1e-12);
});

test("exactPolicyGradient agrees with finite differences over two turns", async () => {
  const model = await policy();
  const second = codec.open([{ role: "user", content: "x" }]);
  const world = (actions: readonly Int32Array[]) =>
    actions.length === 0
      ? { prompt }
      : actions.length === 1 && rewardOf(actions[0]!) < 1
        ? { prompt: second }
        : { reward: rewardOf(actions[0]!) + 0.5 * (actions[1] ? rewardOf(actions[1]) : 0) };
  const { gradient } = await exactPolicyGradient(model, world, maxTokens);
  const table = model.weights.part("logits");
  for (const context of gradient.keys()) table.row(context);
  for (const [context, row] of table.rows) {
    for (let w = 0; w < table.width; w++) {
      const i = row * table.width + w;
      const expected = async (d: number): Promise<number> => {
        table.array("weights")[i]! += d;
        model.weights.changed();
        const got = (await exactPolicyGradient(model, world, maxTokens)).expected;
        table.array("weights")[i]! -= d;
        model.weights.changed();
        return got;
      };
      const slope = ((await expected(1e-5)) - (await expected(-1e-5))) / 2e-5;
      assert.ok(Math.abs((gradient.get(context)?.[w] ?? 0) - slope) < 1e-8);
    }
  }
});

for (const [name, estimator] of [
  ["leaveOneOut", leaveOneOut()],
  ["runningBaseline", runningBaseline()],
] as const) {
  for (const clipped of [false, true]) {
    test(`${name} with ${clipped ? "clippedRatio" : "policyGradient"} samples the exact gradient without bias`, async () => {
      const model = await policy();
      const world = (actions: readonly Int32Array[]) =>
        actions[0] ? { reward: rewardOf(actions[0]) } : { prompt };
      const expected = flat(model, (await exactPolicyGradient(model, world, maxTokens)).gradient);
      const [sums, squares] = [expected.map(() => 0), expected.map(() => 0)];
      const n = 1500;
      for (let k = 0; k < n; k++) {
        const seeds = Array.from({ length: 3 }, (_, i) => randomStream(name).split(k, i).seed);
        const samples = await model.sample(seeds.map((seed) => ({ prompt, maxTokens, seed })));
        flat(model, await pieces(model, estimator, evidence(model, samples), clipped)).forEach((x, i) => {
          sums[i]! += x;
          squares[i]! += x * x;
        });
      }
      within(sums, squares, n, expected, 4.5);
    });
  }
}

test("in expectation over all groups: leave-one-out is exact, mean-centred shrinks by (G − 1)/G, normalised is biased", async () => {
  const model = await policy();
  const all = possibleActions(model, prompt, maxTokens);
  const world = (actions: readonly Int32Array[]) =>
    actions[0] ? { reward: rewardOf(actions[0]) } : { prompt };
  const exact = flat(model, (await exactPolicyGradient(model, world, maxTokens)).gradient);
  const G = 2;
  const expectation = async (estimator: Advantage): Promise<number[]> => {
    const sum: ByContext = new Map();
    for (const a of all) {
      for (const b of all) {
        const samples = [a, b].map((p) => ({
          action: p.action,
          logp: new Float32Array(p.action.length),
          behaviour: new Float32Array(p.action.length),
          stop: "eos" as const,
          version: "0",
        }));
        const seen = evidence(model, samples);
        addScaled(sum, await pieces(model, estimator, seen, false), a.probability * b.probability);
      }
    }
    return flat(model, sum);
  };
  const near = (got: number[], want: number[]): void =>
    got.forEach((x, i) => {
      assert.ok(Math.abs(x - want[i]!) < 1e-6, `[${i}] ${x}, expected ${want[i]}`);
    });
  near(await expectation(leaveOneOut()), exact);
  near(
    await expectation(groupNormalised({ scale: "none" })),
    exact.map((x) => (x * (G - 1)) / G),
  );
  // a group of two that differs has advantages ±1 whatever the difference: the gradient of P(better than a rival) · …
  const normalised = await expectation(groupNormalised());
  const byHand: ByContext = new Map();
  for (const a of all) {
    for (const b of all) {
      const sign = Math.sign(rewardOf(a.action) - rewardOf(b.action));
      addScaled(byHand, a.score, (a.probability * b.probability * sign) / G);
      addScaled(byHand, b.score, (-a.probability * b.probability * sign) / G);
    }
  }
  near(normalised, flat(model, byHand));
  assert.ok(normalised.some((x, i) => Math.abs(x - exact[i]!) > 0.01));
});
