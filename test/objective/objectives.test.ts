import assert from "node:assert/strict";
import { test } from "node:test";
import { averageStats } from "../../src/common/statistics/stats.ts";
import { withColumns } from "../../src/common/tokens/pack.ts";
import type { Batch } from "../../src/core/batch.ts";
import type { Objective } from "../../src/core/objective.ts";
import { clippedRatio, oldColumn } from "../../src/objective/clippedRatio.ts";
import { entropyBonus } from "../../src/objective/entropyBonus.ts";
import { klPenalty } from "../../src/objective/klPenalty.ts";
import { likelihood } from "../../src/objective/likelihood.ts";
import type { Normaliser } from "../../src/objective/normaliser.ts";
import { policyGradient } from "../../src/objective/policyGradient.ts";
import { batchOfRows, ctxOf } from "../core/make.ts";
import { agrees } from "./gradients.ts";

const normalisers: readonly Normaliser[] = ["tokens", "rows", "trajectories", { constant: 8 }];
// biome-ignore lint/suspicious/noExplicitAny: rows of one table, each with its own aux
const table: { name: string; objective: Objective<any> }[] = normalisers.flatMap((normaliser) => [
  ...(["token", "turn", "sequence"] as const).map((level) => ({
    name: `clippedRatio ${level} ${JSON.stringify(normaliser)}`,
    objective: clippedRatio({ level, normaliser, clip: { low: 0.2, high: 0.3 }, deadGroups: "leaveOut" }),
  })),
  {
    name: `policyGradient ${JSON.stringify(normaliser)}`,
    objective: policyGradient({ normaliser, coefficient: 0.5 }),
  },
  {
    name: `likelihood ${JSON.stringify(normaliser)}`,
    objective: likelihood({ normaliser, coefficient: 0.5 }),
  },
  {
    name: `klPenalty k3 ${JSON.stringify(normaliser)}`,
    objective: klPenalty({ normaliser, coefficient: 0.5 }),
  },
  {
    name: `klPenalty k2 ${JSON.stringify(normaliser)}`,
    objective: klPenalty({ normaliser, estimator: "k2" }),
  },
  {
    name: `entropyBonus ${JSON.stringify(normaliser)}`,
    objective: entropyBonus({ normaliser, coefficient: 0.5 }),
  },
]);

for (const { name, objective } of table) agrees(name, objective);

async function run(objective: ReturnType<typeof clippedRatio>, batch: Batch, logp: readonly number[]) {
  const aux = await objective.prepare(ctxOf({}), batch);
  return objective.evaluate({ logp: Float32Array.from(logp), heads: {} }, batch, aux);
}

test("clippedRatio is worked by hand", async () => {
  // ratios 1.5 and 0.5. A = 1: min(1.5, 1.2) = 1.2, stopped. A = −1: min(−0.5, −0.8) = −0.8, stopped.
  const batch = batchOfRows([{ behaviour: [-1, -1], advantage: [1, -1] }]);
  const { loss, cotangents, stats } = await run(clippedRatio(), batch, [
    -1 + Math.log(1.5),
    -1 + Math.log(0.5),
  ]);
  assert.ok(Math.abs(loss - -(1.2 - 0.8) / 2) < 1e-6);
  assert.deepEqual([...cotangents.logp!].map(Math.abs), [0, 0]);
  const averages = averageStats(stats);
  assert.equal(averages.clipFraction, 1);
  assert.ok(Math.abs(averages.ratio! - 1) < 1e-6);
  // k3: (1/1.5 − 1 + ln 1.5 + 1/0.5 − 1 + ln 0.5) / 2
  assert.ok(Math.abs(averages.kl! - (1 / 1.5 - 1 + Math.log(1.5) + 2 - 1 + Math.log(0.5)) / 2) < 1e-6);
});

test("clippedRatio: widths move both bounds of a token, and one that has none keeps them", async () => {
  // advantages 1, 1, −1, 1 at ratios 1.25, 1.25, 0.85, 1.25, clip 0.2: bounds 1.3 and 1.2 above, 0.9 below, 1.2 without
  const made = batchOfRows([{ behaviour: [-1, -1, -1, -1], advantage: [1, 1, -1, 1] }]);
  const batch = withColumns(made, { "clip.width": Float32Array.of(1.5, 1, 0.5, Number.NaN) });
  const logp = [1.25, 1.25, 0.85, 1.25].map((ratio) => -1 + Math.log(ratio));
  const { loss, cotangents } = await run(clippedRatio({ widths: "clip.width" }), batch, logp);
  [-1.25 / 4, 0, 0, 0].forEach((slope, a) => {
    assert.ok(Math.abs(cotangents.logp![a]! - slope) < 1e-6);
  });
  assert.ok(Math.abs(loss - -(1.25 + 1.2 - 0.9 + 1.2) / 4) < 1e-6);
});

test("clippedRatio does not stop a bad ratio from being mended", async () => {
  // ratio 1.5 with A = −1 is beyond the clip but must be pushed back
  const batch = batchOfRows([{ behaviour: [-1], advantage: [-1] }]);
  const { cotangents } = await run(clippedRatio(), batch, [-1 + Math.log(1.5)]);
  assert.ok(Math.abs(cotangents.logp![0]! - 1.5) < 1e-6);
});

test("clippedRatio: normalisers weigh long and short rows as they say", async () => {
  const batch = batchOfRows([
    { behaviour: [-1, -1, -1], advantage: [1, 1, 1] },
    { behaviour: [-1], advantage: [1] },
  ]);
  const slopes = async (normaliser: Normaliser): Promise<number[]> =>
    [...(await run(clippedRatio({ normaliser }), batch, [-1, -1, -1, -1])).cotangents.logp!].map((x) => -x);
  const near = (got: number[], want: number[]): void =>
    got.forEach((g, i) => {
      assert.ok(Math.abs(g - want[i]!) < 1e-6, `${got}`);
    });
  near(await slopes("tokens"), [1 / 4, 1 / 4, 1 / 4, 1 / 4]);
  near(await slopes("rows"), [1 / 6, 1 / 6, 1 / 6, 1 / 2]);
  near(await slopes({ constant: 5 }), [0.1, 0.1, 0.1, 0.1]);
});

test("clippedRatio: by trajectories, the rows that one was cut into share its weight", async () => {
  const batch = batchOfRows([
    { behaviour: [-1, -1], advantage: [1, 1], trajectory: "a" },
    { behaviour: [-1], advantage: [1], trajectory: "a" },
    { behaviour: [-1], advantage: [1], trajectory: "b" },
  ]);
  const { cotangents } = await run(clippedRatio({ normaliser: "trajectories" }), batch, [-1, -1, -1, -1]);
  // two trajectories, half of the loss each: a's over three tokens, b's on one
  const want = [-1 / 6, -1 / 6, -1 / 6, -1 / 2];
  assert.ok(
    want.every((w, i) => Math.abs(cotangents.logp![i]! - w) < 1e-6),
    `${cotangents.logp}`,
  );
});

test("clippedRatio can leave dead groups out of the normaliser", async () => {
  const batch = batchOfRows([
    { behaviour: [-1], advantage: [1], group: "a" },
    { behaviour: [-1], advantage: [0], group: "dead" },
  ]);
  assert.equal((await run(clippedRatio(), batch, [-1, -1])).loss, -0.5);
  assert.equal((await run(clippedRatio({ deadGroups: "leaveOut" }), batch, [-1, -1])).loss, -1);
});

test("clippedRatio leaves out what has no old log-probability, and counts it", async () => {
  const batch = batchOfRows([{ behaviour: [Number.NaN, -1], advantage: [1, 1] }]);
  for (const level of ["token", "turn", "sequence"] as const) {
    const { loss, cotangents, stats } = await run(clippedRatio({ level }), batch, [-1, -1]);
    assert.equal(stats.unknown, 1);
    assert.equal(cotangents.logp![0], 0);
    assert.ok(Number.isFinite(loss) && cotangents.logp![1]! < 0);
  }
});

test("clippedRatio scores rows of unknown behaviour by the model that they train", async () => {
  const objective = clippedRatio();
  const batch = batchOfRows([
    { behaviour: [-1], advantage: [1] },
    { behaviour: [Number.NaN, -3], advantage: [1, 1] },
  ]);
  const asked: number[] = [];
  const model = {
    score: async (rows: { target_A: Int32Array }) => {
      asked.push(rows.target_A.length);
      return { logp: Float32Array.of(-7, -8), heads: {} };
    },
  };
  // biome-ignore lint/suspicious/noExplicitAny: only `score` is asked for
  const columns = await objective.columns?.(ctxOf({ model: () => model as any }), batch);
  assert.deepEqual([...columns![oldColumn]!], [-1, -7, -3]);
  assert.deepEqual(asked, [2]);
});
