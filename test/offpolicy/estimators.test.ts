import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Policy, values, type World } from "../../bench/offpolicy/world.ts";
import { doublyRobust, weightedDoublyRobust } from "../../src/offpolicy/doublyRobust.ts";
import type { Estimator } from "../../src/offpolicy/estimator.ts";
import { ips } from "../../src/offpolicy/ips.ts";
import { clipped, switched } from "../../src/offpolicy/limited.ts";
import { perDecision, weightedPerDecision } from "../../src/offpolicy/perDecision.ts";
import { actionRatio, type Sample, versionRatio, withAnswer } from "../../src/offpolicy/sample.ts";
import { snips } from "../../src/offpolicy/snips.ts";

const close = (got: number, expected: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - expected) <= within, `${got}, not ${expected}`);
const one = (ratios: number[], rewards: number[], more: Partial<Sample> = {}): Sample => ({
  cluster: "u",
  ratios,
  rewards,
  ...more,
});

/** Every trajectory that can happen under the behaviour, with its probability. */
function everything(
  world: World,
  behaviour: Policy,
  sample: (path: readonly { s: number; a: number; t: number }[]) => Sample,
): { readonly probability: number; readonly sample: Sample }[] {
  const out: { probability: number; sample: Sample }[] = [];
  const walk = (s: number, probability: number, path: { s: number; a: number; t: number }[]): void => {
    for (const [a, p] of behaviour[s]!.entries()) {
      const longer = [...path, { s, a, t: path.length }];
      if (longer.length === world.turns) out.push({ probability: probability * p, sample: sample(longer) });
      else for (const [next, q] of world.next[s]![a]!.entries()) walk(next, probability * p * q, longer);
    }
  };
  for (const [s, p] of world.start.entries()) walk(s, p, []);
  return out;
}

const chance = fc.double({ min: 0.05, max: 0.95, noNaN: true });
const pair = chance.map((p): [number, number] => [p, 1 - p]);
const policy = fc.tuple(pair, pair);
const anyWorld = fc.record({
  turns: fc.integer({ min: 1, max: 3 }),
  start: pair,
  next: fc.tuple(fc.tuple(pair, pair), fc.tuple(pair, pair)),
  reward: fc.tuple(fc.tuple(chance, chance), fc.tuple(chance, chance)),
});
const settings = { numRuns: 40, seed: 5 };

test("ips, perDecision and doublyRobust are unbiased: every trajectory of small worlds, weighed by its probability", () => {
  fc.assert(
    fc.property(anyWorld, policy, policy, chance, (world, behaviour, target, wrong) => {
      const truth = values(world, target).value;
      const all = everything(world, behaviour, (path) => ({
        cluster: "u",
        ratios: path.map(({ s, a }) => target[s]![a]! / behaviour[s]![a]!),
        rewards: path.map(({ s, a }) => world.reward[s]![a]!),
        // q̂ is anything at all; v̂ has to be what the target makes of it
        predicted: {
          action: path.map(({ s, a }) => wrong * (s + 2 * a)),
          state: path.map(({ s }) => wrong * (s + 2 * target[s]![1]!)),
        },
      }));
      for (const estimator of [ips, perDecision, doublyRobust]) {
        const expected = all.reduce(
          (sum, { probability, sample }) => sum + probability * estimator([sample]).value,
          0,
        );
        close(expected, truth, 1e-8);
      }
    }),
    settings,
  );
});

test("doublyRobust is right with the right model, whatever the propensities", () => {
  fc.assert(
    fc.property(anyWorld, policy, policy, chance, (world, behaviour, target, wrong) => {
      const { q, v, value } = values(world, target);
      const all = everything(world, behaviour, (path) => ({
        cluster: "u",
        ratios: path.map(({ a }) => wrong * (1 + a)),
        rewards: path.map(({ s, a }) => world.reward[s]![a]!),
        predicted: {
          action: path.map(({ s, a, t }) => q[t]![s]![a]!),
          state: path.map(({ s, t }) => v[t]![s]!),
        },
      }));
      const expected = all.reduce(
        (sum, { probability, sample }) => sum + probability * doublyRobust([sample]).value,
        0,
      );
      close(expected, value, 1e-8);
    }),
    settings,
  );
});

const anySample = fc
  .array(
    fc.record({
      ratio: fc.double({ min: 0.1, max: 3, noNaN: true }),
      reward: fc.double({ min: -2, max: 2, noNaN: true }),
      action: chance,
      state: chance,
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((turns) =>
    one(
      turns.map((t) => t.ratio),
      turns.map((t) => t.reward),
      { predicted: { action: turns.map((t) => t.action), state: turns.map((t) => t.state) } },
    ),
  );
const anySamples = fc.array(anySample, { minLength: 2, maxLength: 8 });

test("with all reward at the end, perDecision is ips and its weighted form snips", () => {
  fc.assert(
    fc.property(anySamples, fc.double({ min: 0.5, max: 1, noNaN: true }), (samples, discount) => {
      const atTheEnd = samples.map((s) => ({
        ...s,
        rewards: s.rewards.map((r, t) => (t + 1 < s.rewards.length ? 0 : r)),
      }));
      close(perDecision(atTheEnd, { discount }).value, ips(atTheEnd, { discount }).value);
      const alike = atTheEnd.filter((s) => s.ratios.length === atTheEnd[0]!.ratios.length);
      close(weightedPerDecision(alike, { discount }).value, snips(alike, { discount }).value);
    }),
    settings,
  );
});

test("a shift of all returns shifts snips alike, and a factor on all propensities changes nothing", () => {
  fc.assert(
    fc.property(anySamples, (samples) => {
      const shifted = samples.map((s) => ({ ...s, rewards: s.rewards.map((r, t) => (t === 0 ? r + 3 : r)) }));
      const scaled = samples.map((s) => ({ ...s, ratios: s.ratios.map((r, t) => (t === 0 ? 2 * r : r)) }));
      close(snips(shifted).value, snips(samples).value + 3);
      close(snips(scaled).value, snips(samples).value);
    }),
    settings,
  );
});

test("without a model, or with one that says 0, doublyRobust is perDecision", () => {
  fc.assert(
    fc.property(anySamples, (samples) => {
      const silent = samples.map((s) => ({
        ...s,
        predicted: { action: s.ratios.map(() => 0), state: s.ratios.map(() => 0) },
      }));
      close(doublyRobust(silent).value, perDecision(samples).value);
      close(weightedDoublyRobust(silent).value, weightedPerDecision(samples).value);
    }),
    settings,
  );
});

test("the influence is the derivative of the value by how often a trajectory counts", () => {
  const estimators: Estimator[] = [
    ips,
    snips,
    perDecision,
    weightedPerDecision,
    doublyRobust,
    weightedDoublyRobust,
  ];
  fc.assert(
    fc.property(anySamples, (samples) => {
      for (const estimator of estimators) {
        const { value, influence } = estimator(samples);
        // one more copy of the first among k copies of all: value changes by influence / (k n), up to 1 / k²
        const many = Array.from({ length: 400 }, () => samples).flat();
        const n = many.length + 1;
        close(
          (estimator([...many, samples[0]!]).value - value) * n,
          influence[0]!,
          2e-2 * (1 + Math.abs(influence[0]!)),
        );
      }
    }),
    { numRuns: 10, seed: 5 },
  );
});

test("numbers by hand", () => {
  // weights 2 and ½, returns 1 and 4: ips (2 + 2) / 2; snips 4 / 2.5
  const two = [one([2], [1]), one([0.5], [4])];
  close(ips(two).value, 2);
  close(snips(two).value, 1.6);
  // influence of snips: n w (x − v) / Σ w = 2 · 2 · (1 − 1.6) / 2.5
  close(snips(two).influence[0]!, -0.96);
  // ratios 2, ½ and rewards 1, 3, γ ½: ips 1 · (1 + 1.5) = 2.5; per decision 2 · 1 + ½ · 1 · 3 = 3.5
  const turns = [one([2, 0.5], [1, 3])];
  close(ips(turns, { discount: 0.5 }).value, 2.5);
  close(perDecision(turns, { discount: 0.5 }).value, 3.5);
  // v̂ 1 + ρ 2 (r 1 + γ 1 · [v̂ 2 + ρ ½ (3 − q̂ 1)] − q̂ 2) = 1 + 2 (1 + 3 − 2) = 5
  close(doublyRobust([one([2, 0.5], [1, 3], { predicted: { action: [2, 1], state: [1, 2] } })]).value, 5);
  // products 4, 2, 6, capped at 3: 3, 2, 3, so ratios 3, ⅔, 1½
  assert.deepEqual(clipped([one([4, 0.5, 3], [0, 0, 0])], 3)[0]!.ratios, [3, 2 / 3, 1.5]);
  assert.deepEqual(clipped([one([0, 5], [0, 0])], 3)[0]!.ratios, [0, 0]);
  assert.deepEqual(switched([one([4, 0.5], [0, 0])], 3)[0]!.ratios, [0, 0.5]);
  close(actionRatio([-1, -2], [-2, -1.5]), Math.exp(0.5));
  assert.equal(versionRatio("b", "b", 0.05), 20);
  assert.equal(versionRatio("b", "a", 0.95), 0);
});

test("an answer is one more decision: those who answer stand for those who do not", () => {
  const s = one([2], [0], { predicted: { action: [0.4], state: [0.3] } });
  const came = withAnswer(s, { reward: 1, chance: 0.25, predicted: 0.4 });
  assert.deepEqual(came.ratios, [2, 4]);
  assert.deepEqual(came.rewards, [0, 1]);
  assert.deepEqual(came.predicted, { action: [0.4, 0.4], state: [0.3, 0.4] });
  const silent = withAnswer(s, { chance: 0.25, predicted: 0.4 });
  assert.deepEqual(silent.ratios, [2, 0]);
  // on average over who answers, right with the right chance and any prediction: ¼ · V(came) + ¾ · V(silent)
  // = 0.3 + 2 (0.4 + ¼ · 4 · (1 − 0.4) − 0.4) = 1.5, of which 0.3 − 2 · 0.4 + 2 · 1 is the model with the true reward 1
  close(0.25 * doublyRobust([came]).value + 0.75 * doublyRobust([silent]).value, 0.3 - 0.8 + 2);
});

test("what cannot be estimated from is refused", () => {
  const code = { code: "shape.mismatch" };
  assert.throws(() => ips([]), code);
  assert.throws(() => snips([one([], [])]), code);
  assert.throws(() => snips([one([1], [1, 2])]), code);
  assert.throws(() => snips([one([Number.POSITIVE_INFINITY], [1])]), /Check for propensities of 0/);
  assert.throws(() => snips([one([-1], [1])]), code);
  assert.throws(() => doublyRobust([one([1], [1])]), /Fit a reward model/);
  assert.throws(() => actionRatio([1], []), code);
  assert.ok(Number.isNaN(snips([one([0], [1])]).value));
});
