import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf, evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import type { TokenRows } from "../../../core/batch.ts";
import type { Play } from "../../../core/context.ts";
import type { Frozen } from "../../../core/model.ts";
import { likelihoodRegression } from "./likelihoodRegression.ts";
import { baseSampled, selfLikelihood } from "./selfLikelihood.ts";

agrees("likelihoodRegression", likelihoodRegression(0.5));

/** A frozen model that gives token id k the log-probability −k/10. */
const frozen = {
  score: async (rows: TokenRows) => ({
    logp: Float32Array.from(rows.target_A, (at) => -rows.tokens_N[at]! / 10),
    heads: {},
  }),
} as unknown as Frozen;

test("the self-reward is the sum over all action tokens, prompts left out and nothing divided by the length", async () => {
  const trajectories = [
    trajectoryOf("short", [turnOf([9], [1, 2])]),
    trajectoryOf("long", [turnOf([9], [1, 2]), turnOf([9, 1, 2, 8], [3, 3])]),
    trajectoryOf("none", []),
    trajectoryOf("failed", [turnOf([9], [1])], { end: { kind: "failed", boundary: "model", message: "" } }),
  ];
  const signals = await selfLikelihood()(ctxOf({ frozen: () => frozen }), { trajectories, units: [] }, {});
  const of = new Map(
    signals.flatMap((s) => (s.kind === "reward" ? [[s.about[0]!.trajectory, s.value]] : [])),
  );
  assert.deepEqual([...of.keys()], ["short", "long"]);
  assert.ok(Math.abs(of.get("short")! + 0.3) < 1e-6);
  assert.ok(Math.abs(of.get("long")! + 0.9) < 1e-6);
});

test("attempts are the first policy's, in every role", async () => {
  const asked: Play[] = [];
  await baseSampled({ groupSize: 2 })(
    ctxOf({
      roles: ["first", "second"],
      tasks: [{ id: "task", prompt: [], metadata: {}, seed: 1 }],
      play: async (play) => {
        asked.push(play);
        return [];
      },
    }),
  );
  assert.equal(asked.length, 2);
  for (const { models } of asked) assert.deepEqual(models, { first: "reference", second: "reference" });
});

/** How often each answer is kept as the likeliest of n draws, over all courses of the draws. */
function kept(chances: readonly number[], n: number): number[] {
  const out = chances.map(() => 0);
  const walk = (drawn: readonly number[], chance: number): void => {
    if (drawn.length < n) {
      for (const [y, p] of chances.entries()) walk([...drawn, y], chance * p);
      return;
    }
    const evidence = evidenceOf([drawn.map((y) => Math.log(chances[y]!))]);
    const { advantages } = rejectionSampled({ keep: { best: 1 } }).apply(evidence, null, undefined);
    const own = drawn.filter((_, i) => advantages.has(`0.${i}`));
    assert.equal(own.length, 1);
    out[own[0]!]! += chance;
  };
  walk([], 1);
  return out;
}

test("one draw changes nothing in expectation; the likeliest of n is Y* with probability 1 − (1 − p)^n", () => {
  const chances = [0.2, 0.5, 0.3];
  for (const n of [1, 2, 3, 4]) {
    const [least, most, middle] = kept(chances, n);
    assert.ok(Math.abs(most! - (1 - 0.5 ** n)) < 1e-12);
    assert.ok(Math.abs(middle! - (0.5 ** n - 0.2 ** n)) < 1e-12);
    assert.ok(Math.abs(least! - 0.2 ** n) < 1e-12);
  }
});

/** Two answers of one group and a leftover, with these log-probabilities of the policy and the first policy. */
async function regressed(beta: number, policy: readonly number[], first: readonly number[]) {
  const batch = batchOfRows(policy.map((x) => ({ behaviour: [x], advantage: [1] })));
  const objective = likelihoodRegression(beta);
  const columns = { "reference.logp": Float32Array.from(first) };
  const aux = await objective.prepare(ctxOf({}), batch);
  return objective.evaluate({ logp: Float32Array.from(policy), heads: {} }, { ...batch, columns }, aux);
}

test("the regression by hand: differences of the policy's and the first policy's log-probabilities", async () => {
  // Δ ln π = −1 + 2 = 1; Δ ln π_base = −1 + 3 = 2; β = 1 wants 4: the error is −3
  const { loss, cotangents, stats } = await regressed(1, [-1, -2, -5], [-1, -3, -9]);
  assert.ok(Math.abs(loss - 9) < 1e-5);
  assert.deepEqual([...cotangents.logp!], [-6, 6, 0]);
  assert.equal(stats.pairs, 1);
});

test("its minimum is the first policy to the power of 1 + 1/β, normalised, whatever the normaliser", async () => {
  const first = [-0.5, -1.5];
  for (const beta of [0.1, 0.3, 1])
    for (const shift of [0, -2]) {
      const { loss } = await regressed(
        beta,
        first.map((x) => (1 + 1 / beta) * x + shift),
        first,
      );
      assert.ok(loss < 1e-9);
    }
});
