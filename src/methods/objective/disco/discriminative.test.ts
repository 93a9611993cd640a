import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { batchOfRows, ctxOf, evidenceOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { batchOf } from "../../../common/tokens/pack.ts";
import type { Batch } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Model } from "../../../core/model.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { type DiscriminativeOptions, discriminative } from "./discriminative.ts";

/** A model of which only the log-probabilities are asked. */
const scoring = (logp_A: ArrayLike<number>): Partial<Ctx> => {
  const model: Pick<Model, "score"> = {
    score: async () => ({ logp: Float32Array.from(logp_A), heads: {} }),
  };
  return { model: () => model as Model };
};
/** Moved by 0.1 nats from where it was sampled: the hinge is at work. */
const moved = (batch: Batch): Partial<Ctx> => scoring(batch.behaviour_A.map((x) => x - 0.1));

for (const score of ["logp", "ratio"] as const) {
  for (const temperature of [0.5, 10, Number.POSITIVE_INFINITY]) {
    const objective = discriminative({ score, temperature, hinge: 3, budget: 0.01 });
    agrees(`discriminative ${score} ${temperature}`, objective, undefined, moved);
  }
}

async function run(batch: Batch, logp_A: ArrayLike<number>, options: DiscriminativeOptions) {
  const objective = discriminative(options);
  const aux = await objective.prepare(ctxOf(scoring(logp_A)), batch);
  return objective.evaluate({ logp: Float32Array.from(logp_A), heads: {} }, batch, aux);
}
const near = (got: ArrayLike<number>, want: readonly number[]): void => {
  assert.equal(got.length, want.length);
  for (const [i, w] of want.entries())
    assert.ok(Math.abs(got[i]! - w) < 1e-6, `[${i}] ${got[i]}, expected ${w}`);
};

test("discriminative is worked by hand", async () => {
  // right: mean of −1, −3 is −2. Wrong: 0 and −ln 3. τ = 1: ln((1 + 1/3) / 2) = ln(2/3), shares 3/4 and 1/4
  const batch = batchOfRows([
    { behaviour: [-1, -3], advantage: [0.5, 0.5] },
    { behaviour: [0], advantage: [-0.2] },
    { behaviour: [-Math.log(3)], advantage: [-9] },
  ]);
  const { loss, cotangents, stats } = await run(batch, batch.behaviour_A, { temperature: 1 });
  near([loss], [2 + Math.log(2 / 3)]);
  near(cotangents.logp!, [-0.5, -0.5, 0.75, 0.25]);
  assert.equal(stats.questions, 1);
});

test("the hinge pulls back once the divergence exceeds its budget, and never before", async () => {
  // nothing to compare: only the hinge is left. old − logp = 0.3 and 0.1, KL 0.2, over the budget by 0.15
  const batch = batchOfRows([{ behaviour: [-1, -1], advantage: [1, 1] }]);
  const options = { hinge: 10, budget: 0.05 };
  const far = await run(batch, [-1.3, -1.1], options);
  near([far.loss], [10 * 0.15 * 0.2]);
  near(far.cotangents.logp!, [-10 * 0.15 * 0.5, -10 * 0.15 * 0.5]);
  const close = await run(batch, [-1.02, -1.02], options);
  near([close.loss, ...close.cotangents.logp!], [0, 0, 0]);
});

test("questions without one of each teach nothing and count in the mean", async () => {
  const mixed = [
    { behaviour: [-1], advantage: [1], group: "mixed" },
    { behaviour: [-2], advantage: [-1], group: "mixed" },
  ];
  const alone = await run(batchOfRows(mixed), [-1, -2], {});
  const beside = await run(
    batchOfRows([...mixed, { behaviour: [-1], advantage: [0], group: "dead" }]),
    [-1, -2, -1],
    {},
  );
  near(beside.cotangents.logp!, [...[...alone.cotangents.logp!].map((x) => x / 2), 0]);
});

test("the GRPO gradient of a question is √(p(1 − p)) times that of the plain difference of means", async () => {
  const group = fc.array(fc.constantFrom(0, 1), { minLength: 2, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(group, async (rewards) => {
      const annotated = evidenceOf([rewards]);
      const { advantages } = groupNormalised().apply(annotated, null, undefined);
      const { batch } = batchOf(annotated.trajectories, annotated.units, advantages);
      const old_A = batch.behaviour_A;
      const grpo = clippedRatio({ normaliser: "rows" });
      const theirs = grpo.evaluate({ logp: old_A, heads: {} }, batch, await grpo.prepare(ctxOf({}), batch));
      const ours = await run(batch, old_A, { temperature: Number.POSITIVE_INFINITY });
      const p = rewards.reduce<number>((sum, r) => sum + r / rewards.length, 0);
      near(
        theirs.cotangents.logp!,
        [...ours.cotangents.logp!].map((x) => Math.sqrt(p * (1 - p)) * x),
      );
    }),
    { seed: 1, numRuns: 50 },
  );
});
