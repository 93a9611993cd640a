import assert from "node:assert/strict";
import { test } from "node:test";
import { type RejectionSampledOptions, rejectionSampled } from "../../src/advantage/rejectionSampled.ts";
import { evidenceOf } from "../core/make.ts";

const rewards = [[0.2, 1, undefined, 1], [0, 0.1], [0.4]];

function kept(options: RejectionSampledOptions) {
  const { advantages, stats } = rejectionSampled(options).apply(evidenceOf(rewards), null, undefined);
  for (const xs of advantages.values()) assert.deepEqual([...xs], [1, 1]);
  return { ids: [...advantages.keys()].sort(), stats };
}

test("successes are kept, tasks without one give nothing", () => {
  const { ids, stats } = kept({});
  assert.deepEqual(ids, ["0.1", "0.3"]);
  assert.equal(stats.kept, 2 / 6);
  assert.deepEqual(kept({ threshold: 0.4 }).ids, ["0.1", "0.3", "2.0"]);
});

test("the best of each group is kept, the first of equals, however little it got", () => {
  assert.deepEqual(kept({ keep: { best: 1 } }).ids, ["0.1", "1.1", "2.0"]);
  assert.deepEqual(kept({ keep: { best: 2 } }).ids, ["0.1", "0.3", "1.0", "1.1", "2.0"]);
});

test("among the batch tasks compete: as many are kept, hard tasks may have none", () => {
  assert.deepEqual(kept({ keep: { best: 1, among: "batch" } }).ids, ["0.1", "0.3", "2.0"]);
});

test("nothing scored keeps nothing, and what others made stays", () => {
  const annotated = evidenceOf([[undefined, 1]]);
  const soFar = new Map([["0.0", Float32Array.of(2, 3)]]);
  const { advantages } = rejectionSampled().apply(annotated, null, soFar);
  assert.deepEqual([...advantages.get("0.0")!], [2, 3]);
  assert.deepEqual([...advantages.get("0.1")!], [1, 1]);
  const none = rejectionSampled().apply(evidenceOf([[undefined]]), null, undefined);
  assert.equal(none.advantages.size, 0);
  assert.deepEqual(none.stats, { groups: 0 });
});

test("at most so many successes of a group", () => {
  assert.deepEqual(kept({ most: 1 }).ids, ["0.1"]);
  assert.deepEqual(kept({ most: 2 }).ids, ["0.1", "0.3"]);
});
