import assert from "node:assert/strict";
import { test } from "node:test";
import { withColumns } from "../../src/common/tokens/pack.ts";
import type { Batch } from "../../src/core/batch.ts";
import { rowCount } from "../../src/core/batch.ts";
import { type PairwiseOptions, pairwise } from "../../src/objective/pairwise.ts";
import { batchOfRows, ctxOf } from "../core/make.ts";
import { agrees } from "./gradients.ts";

/** Pairs the rows of each group: the first with the second and again, at another strength, the second with the third. */
function paired(batch: Batch): Record<string, Float32Array> {
  const none = () => new Float32Array(batch.target_A.length).fill(Number.NaN);
  const columns = {
    "pair.0": none(),
    "pair.0.strength": none(),
    "pair.1": none(),
    "pair.1.strength": none(),
  };
  const groups = Map.groupBy(
    Array.from({ length: rowCount(batch) }, (_, r) => r),
    (r) => batch.rows[r]!.group,
  );
  let number = 0;
  const put = (r: number | undefined, k: 0 | 1, value: number, strength: number): void => {
    if (r === undefined) return;
    const [from, to] = [batch.targetOffset[r]!, batch.targetOffset[r + 1]!];
    columns[`pair.${k}`].fill(value, from, to);
    columns[`pair.${k}.strength`].fill(strength, from, to);
  };
  for (const rows of groups.values()) {
    put(rows[0], 0, ++number, 1);
    put(rows[1], 0, -number, 1);
    put(rows[1], 1, ++number, 0.75);
    put(rows[2], 0, -number, 0.75);
  }
  return columns;
}

const variants: Readonly<Record<string, PairwiseOptions>> = {
  logistic: { beta: 0.7 },
  squared: { loss: "squared", beta: 0.6 },
  reverseKl: { loss: "reverseKl", beta: 0.9 },
  "no reference, half of the rejected": { against: {}, rejected: 0.5 },
  anchored: { rejected: "anchored", beta: 0.9 },
  "with imitation": { beta: 0.7, imitation: 0.3 },
  "two anchors": { loss: "squared", beta: 1, against: { reference: 0.25, sampled: 0.75 } },
};
for (const [name, options] of Object.entries(variants)) agrees(`pairwise ${name}`, pairwise(options), paired);

/** Two rows of two tokens; h = (0.4 + 0.2) − (−0.1 − 0.1) = 0.8 against the reference. */
const batch = withColumns(
  batchOfRows([
    { behaviour: [-1, -1], advantage: [1, 1] },
    { behaviour: [-1, -1], advantage: [-1, -1] },
  ]),
  {
    "pair.0": Float32Array.of(1, 1, -1, -1),
    "pair.0.strength": Float32Array.of(1, 1, 1, 1),
    "reference.logp": Float32Array.of(-1, -1, -1, -1),
  },
);
const outputs = { logp: Float32Array.of(-0.6, -0.8, -1.1, -1.1), heads: {} };
async function lossOf(options: PairwiseOptions, of: Batch = batch): Promise<number> {
  const objective = pairwise(options);
  return objective.evaluate(outputs, of, await objective.prepare(ctxOf({}), of)).loss;
}
const close = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-5, `${got}, expected ${want}`);

test("pairwise: each loss by hand", async () => {
  // −ln σ(0.5 · 0.8) = ln(1 + e^−0.4) = 0.513015
  close(await lossOf({ beta: 0.5 }), 0.513015);
  // (0.8 − 1/(2 · 0.5))² = 0.04
  close(await lossOf({ loss: "squared", beta: 0.5 }), 0.04);
  // q = σ(0.4) = 0.598688, ε = 0.1: q ln(q/0.9) + (1 − q) ln((1 − q)/0.1) = −0.244065 + 0.557634
  close(
    await lossOf({ loss: "reverseKl", beta: 0.5, doubt: 0.1 }),
    0.598688 * Math.log(0.598688 / 0.9) + 0.401312 * Math.log(0.401312 / 0.1),
  );
  // −ln σ(0.4) + 2 · (0.6 + 0.8)/2
  close(await lossOf({ beta: 0.5, imitation: 2 }), 0.513015 + 1.4);
  // no reference, λ = 1/2: S = −1.4 and −2.2, h = −1.4 + 1.1 = −0.3; ln(1 + e^0.3) = 0.854355
  close(await lossOf({ against: {}, beta: 1, rejected: 0.5 }), 0.854355);
});

test("pairwise: what is preferred may become less likely while the margin is won", async () => {
  const objective = pairwise();
  const fallen = withColumns(batch, { "reference.logp": Float32Array.of(-0.5, -0.5, -0.5, -0.5) });
  const statsOf = async (of: Batch) =>
    objective.evaluate(outputs, of, await objective.prepare(ctxOf({}), of)).stats;
  const [rose, fell] = [await statsOf(batch), await statsOf(fallen)];
  // −0.6 − 0.8 + 2 = 0.6 over two tokens; −0.6 − 0.8 + 1 = −0.4
  close(rose["chosen/tokens"]!, 0.6);
  close(fell["chosen/tokens"]!, -0.4);
  close(fell["margin/pairs"]!, 0.8);
  assert.equal(fell.tokens, 2);
  const moving = pairwise({ against: { sampled: 1 } });
  const other = moving.evaluate(outputs, batch, await moving.prepare(ctxOf({}), batch)).stats;
  assert.ok(!("chosen/tokens" in other));
});

test("pairwise: anchored, both sides rise where the chosen one has fallen", async () => {
  // S(chosen) = 0.6: as with λ = 1
  close(await lossOf({ beta: 0.5, rejected: "anchored" }), 0.513015);
  // against −0.5 it is −0.4, and S(rejected) = −1.2: h = −0.4 − 1.2 = −1.6; ln(1 + e^0.8) = 1.171101
  const fallen = withColumns(batch, { "reference.logp": Float32Array.of(-0.5, -0.5, -0.5, -0.5) });
  close(await lossOf({ beta: 0.5, rejected: "anchored" }, fallen), 1.171101);
  const objective = pairwise({ rejected: "anchored" });
  const { cotangents } = objective.evaluate(outputs, fallen, await objective.prepare(ctxOf({}), fallen));
  assert.ok(cotangents.logp!.every((x) => x < 0));
});

test("pairwise: a label of strength p mixes both orders", async () => {
  const half = withColumns(batch, { "pair.0.strength": Float32Array.of(0.25, 0.25, 0.25, 0.25) });
  // ln(1 + e^−0.4) = 0.513015, ln(1 + e^0.4) = 0.913015
  close(await lossOf({ beta: 0.5 }, half), 0.25 * 0.513015 + 0.75 * 0.913015);
});

test("pairwise: a doubtful label imitates both sides, as it compares them both ways", async () => {
  const half = withColumns(batch, { "pair.0.strength": Float32Array.of(0.25, 0.25, 0.25, 0.25) });
  const compared = 0.25 * 0.513015 + 0.75 * 0.913015;
  // means of logp: −0.7 and −1.1
  close(await lossOf({ beta: 0.5, imitation: 2 }, half), compared + 2 * (0.25 * 0.7 + 0.75 * 1.1));
});

test("pairwise: unknown log-probabilities cost their pair, counted", async () => {
  const blind: Batch = { ...batch, logp_A: Float32Array.of(Number.NaN, -1, -1, -1) };
  const objective = pairwise({ against: { sampled: 1 } });
  const { loss, cotangents, stats } = objective.evaluate(
    outputs,
    blind,
    await objective.prepare(ctxOf({}), blind),
  );
  assert.deepEqual([loss, stats.pairs, stats.unknown], [0, 0, 1]);
  assert.ok(cotangents.logp!.every((x) => x === 0));
});
