import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { moments } from "../../../advantage/returns.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { type DownSampledOptions, downSampled, keptColumn, mostVaried } from "./downSampled.ts";

const after = (evidence: AnnotatedExperience, options: DownSampledOptions, iteration = 0) => {
  const { advantages } = groupNormalised().apply(evidence, null, undefined);
  return { before: advantages, ...downSampled(options).apply(evidence, iteration, advantages) };
};

test("mostVaried: of 0, 0, 0, 1, 5, 6 three vary most as 0, 0, 6, and two as 0, 6", () => {
  // {0, 5, 6}: mean 11/3, variance 62/9; {0, 0, 6}: 8; so two zeros and the six
  assert.deepEqual(mostVaried([0, 0, 0, 1, 5, 6], 3), [1, 2, 5]);
  assert.deepEqual(mostVaried([0, 0, 0, 1, 5, 6], 2), [2, 5]);
  assert.deepEqual(mostVaried([1, 0], 5), [0, 1]);
  assert.deepEqual(mostVaried([], 2), []);
});

test("mostVaried is the best of all subsets", () => {
  const random = randomStream("subsets");
  for (let trial = 0; trial < 20; trial++) {
    const values = Array.from({ length: 7 }, () => random.normal());
    for (const count of [1, 2, 3, 5]) {
      let most = 0;
      for (let set = 0; set < 128; set++) {
        const chosen = values.filter((_, i) => (set >> i) & 1);
        if (chosen.length === count) most = Math.max(most, moments(chosen).deviation);
      }
      const got = moments(mostVaried(values, count).map((i) => values[i]!)).deviation;
      assert.ok(Math.abs(got - most) < 1e-12);
    }
  }
});

test("one success among eight: it and a failure stay, with the advantages of the whole group", () => {
  const evidence = evidenceOf([
    [0, 0, 0, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0],
  ]);
  const { before, advantages, stats } = after(evidence, { attempts: 0.25, tokens: 1 });
  // mean 1/8, deviation √7/8: √7 and −1/√7; the second group has no advantage and is dropped whole
  assert.deepEqual([...advantages.keys()], ["0.0", "0.3"]);
  assert.equal(advantages.get("0.3"), before.get("0.3"));
  assert.ok(Math.abs(advantages.get("0.3")![0]! - Math.sqrt(7)) < 1e-6);
  assert.ok(Math.abs(advantages.get("0.0")![0]! + 1 / Math.sqrt(7)) < 1e-6);
  assert.deepEqual(stats, { keptAttempts: 1 / 8, keptTokens: 1 / 8 });
});

test("tokens: the share with the largest |A| H, over all kept attempts", () => {
  const of = (id: string, entropy: readonly number[]) => {
    const turn = turnOf([1], [2, 3]);
    return trajectoryOf(id, [{ ...turn, tokens: { ...turn.tokens!, entropy: Float32Array.from(entropy) } }]);
  };
  const evidence = evidenceOf([[1, 0, 0, 0]]);
  const trajectories = [of("0.0", [0.1, 0.5]), of("0.1", [2, 0.2]), of("0.2", [0, 0]), of("0.3", [1, 0])];
  // |A|: √3 for the success, 1/√3 else. Scores 0.17, 0.87; 1.15, 0.12; 0, 0; 0.58, 0. The three largest of eight:
  const { columns } = after({ ...evidence, trajectories }, { attempts: 1, tokens: 3 / 8 });
  const mask = columns![keptColumn]!;
  assert.deepEqual(
    ["0.0", "0.1", "0.2", "0.3"].map((id) => [...mask.get(id)!]),
    [
      [0, 1],
      [1, 0],
      [0, 0],
      [1, 0],
    ],
  );
});

test("both shares rise to everything; the clock is the state", () => {
  const evidence = evidenceOf([[0, 0, 0, 1, 0, 0, 0, 0]]);
  const options = { attempts: 0.25, tokens: 0.25, relaxOver: 10 };
  // halfway: ⌈0.625 · 8⌉ = 5 attempts, 10 tokens, of which ⌈0.625 · 10⌉ = 7
  const half = after(evidence, options, 5);
  assert.deepEqual(half.stats, { keptAttempts: 5 / 8, keptTokens: 7 / 16 });
  assert.equal(half.next, 6);
  assert.deepEqual(after(evidence, options, 10).stats, { keptAttempts: 1, keptTokens: 1 });
  assert.deepEqual(after(evidence, options, 50).stats, { keptAttempts: 1, keptTokens: 1 });
});

test("at random as many are kept, the same for equal ids; without advantages nothing is", () => {
  const evidence = evidenceOf([[0, 1, 0, 1, 0, 0, 0, 0]]);
  const got = () => [...after(evidence, { by: "random", tokens: 1 }).advantages.keys()];
  assert.equal(got().length, 2);
  assert.deepEqual(got(), got());
  const dead = after(evidenceOf([[1, 1]]), {});
  assert.equal(dead.advantages.size, 0);
  assert.deepEqual(downSampled().apply(evidenceOf([]), 0, undefined).stats, {});
});
