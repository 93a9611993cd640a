import assert from "node:assert/strict";
import { test } from "node:test";
import { outcomePairs } from "../../src/advantage/outcomePairs.ts";
import { batchOf } from "../../src/common/tokens/pack.ts";
import { pairsOf } from "../../src/common/tokens/pairs.ts";
import { pairwise } from "../../src/objective/pairwise.ts";
import { ctxOf, evidenceOf } from "../core/make.ts";

function pairs(
  rewards: readonly (readonly (number | undefined)[])[],
  margin = 0,
  rivals?: number,
  which: "all" | "extremes" = "all",
) {
  const annotated = evidenceOf(rewards);
  const { columns } = outcomePairs({ margin, pairs: which, ...(rivals !== undefined && { rivals }) }).apply(
    annotated,
    null,
    undefined,
  );
  const zero = new Map(annotated.trajectories.map((t) => [t.id, new Float32Array(2)]));
  const { batch } = batchOf(annotated.trajectories, annotated.units, zero, [], columns);
  const rowOf = (a: number): string => batch.rows[Math.floor(a / 2)]!.trajectory; // two tokens a row
  return pairsOf(batch).map((p) => [rowOf(p.chosen[0]!), rowOf(p.rejected[0]!), p.strength]);
}

test("outcomePairs: every unequal pair of a group, the higher one chosen; none across groups", () => {
  assert.deepEqual(pairs([[1, 0, 0], [1]]), [
    ["0.0", "0.1", 1],
    ["0.0", "0.2", 1],
  ]);
  assert.deepEqual(pairs([[0.5, 1, 0]]), [
    ["0.0", "0.2", 1],
    ["0.1", "0.0", 1],
    ["0.1", "0.2", 1],
  ]);
  assert.deepEqual(pairs([[0.5, 1, 0]], 0.5), [["0.1", "0.2", 1]]);
  assert.deepEqual(pairs([[1, 1], [0.3], [undefined, 1]]), []);
});

test("outcomePairs: with few rivals, others are dealt out in turn", () => {
  // the first success begins at the first failure, the second one at the second
  assert.deepEqual(pairs([[1, 1, 0, 0, 0]], 0, 1), [
    ["0.0", "0.2", 1],
    ["0.1", "0.3", 1],
  ]);
  assert.deepEqual(pairs([[1, 1, 0, 0, 0]], 0, 2), [
    ["0.0", "0.2", 1],
    ["0.0", "0.3", 1],
    ["0.1", "0.4", 1],
    ["0.1", "0.2", 1],
  ]);
  assert.equal(pairs([[1, 0]], 0, 5).length, 1);
});

test("outcomePairs: the best with the worst of each group alone, the first of equals, beyond the margin", () => {
  const extremes = (rewards: readonly (number | undefined)[], margin = 0) =>
    pairs([rewards], margin, undefined, "extremes");
  assert.deepEqual(extremes([0.5, 1, 0, 1, 0]), [["0.1", "0.2", 1]]);
  assert.deepEqual(extremes([0.5, undefined, 0.25]), [["0.0", "0.2", 1]]);
  assert.deepEqual(extremes([0.5, 0.25], 0.25), []);
  assert.deepEqual(extremes([1, 1]), []);
  assert.deepEqual(extremes([1]), []);
});

test("outcomePairs leaves advantages as they are", () => {
  const soFar = new Map([["0.0", Float32Array.of(2, 3)]]);
  const { advantages, stats } = outcomePairs().apply(evidenceOf([[1, 0]]), null, soFar);
  assert.equal(advantages, soFar);
  assert.equal(stats.pairs, 1);
  assert.equal(outcomePairs().apply(evidenceOf([[undefined]]), null, undefined).advantages.size, 0);
});

test("with pairwise, a reward model's margin is the difference of the trajectories' implicit rewards", async () => {
  const annotated = evidenceOf([[1, 0]]);
  const { columns } = outcomePairs().apply(annotated, null, undefined);
  const zero = new Map(annotated.trajectories.map((t) => [t.id, new Float32Array(2)]));
  const { batch } = batchOf(annotated.trajectories, annotated.units, zero, [], columns);
  const objective = pairwise({ model: "prm", beta: 0.5, against: { sampled: 1 } });
  assert.equal(objective.model, "prm");
  // sampler −0.1, −0.2 twice; the model −0.1, −0.1 and −0.3, −0.3: sums of ratios 0.1 and −0.3, h = 0.4
  const logp = Float32Array.of(-0.1, -0.1, -0.3, -0.3);
  const { loss } = objective.evaluate({ logp, heads: {} }, batch, await objective.prepare(ctxOf({}), batch));
  assert.ok(Math.abs(loss - Math.log(1 + Math.exp(-0.5 * 0.4))) < 1e-6);
});

test("outcomePairs: named spans stay out of the pairs", () => {
  const annotated = evidenceOf([[1, 0]]);
  const thinking = {
    ...annotated,
    trajectories: annotated.trajectories.map((t) => ({
      ...t,
      turns: t.turns.map((turn) => ({ ...turn, spans: { thought: [[0, 1]] as const } })),
    })),
  };
  const { columns } = outcomePairs({ without: ["thought"] }).apply(thinking, null, undefined);
  assert.deepEqual([...columns!["pair.0"]!.get("0.0")!], [Number.NaN, 1]);
  assert.deepEqual([...columns!["pair.0"]!.get("0.1")!], [Number.NaN, -1]);
});
