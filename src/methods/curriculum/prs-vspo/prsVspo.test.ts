import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import { progressive, shortAnswerQuality } from "./progressive.ts";
import { drawnAgain, taskValue, valueSampled } from "./valueSampled.ts";

const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-5, `${got} for ${want}`);

test("shortAnswerQuality: worked examples", () => {
  near(shortAnswerQuality("a b", "a b"), 1);
  // unigrams 3/4, bigrams 2/3, trigrams 1/2, the 4-gram ε / (1 + ε)
  near(shortAnswerQuality("a b c x", "a b c d"), (0.75 * (2 / 3) * 0.5 * 1e-9) ** 0.25);
  // shorter than the reference: n = 1, penalty exp(1 − 2)
  near(shortAnswerQuality("a", "a b"), Math.exp(-1));
  // longer: n = 1, precision 1/2, no penalty
  near(shortAnswerQuality("a x", "a"), 0.5);
  // "a a a": one of three matches is clipped away
  near(shortAnswerQuality("a a", "a"), 0.5);
  assert.equal(shortAnswerQuality("", "a"), 0);
  assert.equal(shortAnswerQuality("a", ""), 0);
});

async function rewardOf(rewards: readonly Readonly<Record<string, number>>[], reference?: string) {
  const t = trajectoryOf(
    "t",
    rewards.map((own) => turnOf([1], [2, 3], { rewards: own })), // says "2 3"
  );
  const ctx = ctxOf({
    task: (id) => ({ id, prompt: [], metadata: {}, seed: 1, ...(reference !== undefined && { reference }) }),
  });
  const [signal] = await progressive()(ctx, { trajectories: [t], units: [] }, {});
  return signal?.kind === "reward" ? signal.value : undefined;
}

test("progressive: each stage only after the one before", async () => {
  assert.equal(await rewardOf([{ executable: 0 }, { format: 1, outcome: 1 }]), 0);
  assert.equal(await rewardOf([{ executable: 1 }, { format: 0, outcome: 1 }]), 0.1);
  assert.equal(await rewardOf([{ executable: 1 }, { format: 1, outcome: 0 }]), 0.2);
  near((await rewardOf([{ executable: 1 }, { format: 1, outcome: 1 }]))!, 1);
  near((await rewardOf([{ outcome: 0.5 }]))!, 0.6);
});

test("progressive: a reference grades an answer that is not right", async () => {
  near((await rewardOf([{ outcome: 0 }], "2"))!, 0.2 + 0.8 * 0.5);
  near((await rewardOf([{ outcome: 1 }], "9 9"))!, 1);
});

test("taskValue: with rewards of 0 and 1 it is largest at a mean of ¼", () => {
  const at = (p: number) => taskValue({ mean: p, deviation: Math.sqrt(p * (1 - p)) });
  near(at(0.25), 0.75 * Math.sqrt(3 / 16));
  for (const p of [0.05, 0.15, 0.35, 0.5, 0.9]) assert.ok(at(p) < at(0.25));
});

test("drawnAgain: as many places as groups without a difference, in proportion to the values", () => {
  const dead = { mean: 0, deviation: 0 };
  const hard = { mean: 0.25, deviation: 0.4 }; // value 0.3
  const easy = { mean: 0.75, deviation: 0.4 }; // value 0.1
  const random = randomStream("draws");
  const sums = [0, 0, 0, 0];
  for (let i = 0; i < 2000; i++)
    drawnAgain([dead, hard, easy, dead], 1, random).forEach((count, g) => {
      sums[g]! += count / 2000;
    });
  assert.deepEqual([sums[0], sums[3]], [0, 0]);
  assert.ok(Math.abs(sums[1]! - 2.5) < 0.05 && Math.abs(sums[2]! - 1.5) < 0.05, `${sums}`);
  assert.deepEqual(drawnAgain([dead, dead], 1, random), [0, 0]);
  // a group that is always right has no value and is never drawn again, though it differs by rounding
  assert.deepEqual(drawnAgain([dead, { mean: 1, deviation: 0.1 }], 1, random), [0, 1]);
});

test("valueSampled: one group has all places: its weight is smoothed and clipped, the others keep zeros", () => {
  const evidence = evidenceOf([
    [0, 1],
    [0, 0],
    [1, 1],
    [0, 0],
  ]);
  // n = 4, weight √4 = 2 = c; (1 − ½) / ½
  const { advantages, next, stats } = valueSampled().apply(evidence, 0, undefined);
  near(advantages.get("0.1")![0]!, 2);
  near(advantages.get("0.0")![0]!, -2);
  for (const id of ["1.0", "2.1", "3.0"]) assert.deepEqual([...advantages.get(id)!], [0, 0]);
  assert.equal(next, 1);
  assert.equal(stats.deadGroups, 0.75);
  near(valueSampled({ most: 1 }).apply(evidence, 0, undefined).advantages.get("0.1")![0]!, 1);
});
