import assert from "node:assert/strict";
import { test } from "node:test";
import { preferencePairs } from "../../src/advantage/preferencePairs.ts";
import { batchOf, selectRows } from "../../src/common/tokens/pack.ts";
import { pairsOf } from "../../src/common/tokens/pairs.ts";
import type { Signal } from "../../src/core/signal.ts";
import type { AnnotatedExperience } from "../../src/core/slots.ts";
import { evidenceOf, trajectoryOf, turnOf } from "../core/make.ts";

const vote = (best: number, ids: readonly string[], value?: number): Signal => ({
  kind: "preference",
  channel: "preference",
  about: ids.map((trajectory) => ({ trajectory })),
  best,
  source: "test",
  ...(value === undefined ? {} : { value }),
});
const batchFor = (annotated: AnnotatedExperience, piece = preferencePairs()) => {
  const { advantages, columns } = piece.apply(annotated, null, undefined);
  return batchOf(annotated.trajectories, annotated.units, advantages, [], columns).batch;
};

test("preferencePairs: a trajectory in several pairs; who is in none is not trained on", () => {
  const evidence = {
    ...evidenceOf([[0, 0, 0, 0]]),
    signals: [vote(0, ["0.0", "0.1"]), vote(1, ["0.0", "0.2"], 0.75)],
  };
  const { advantages, stats } = preferencePairs().apply(evidence, null, undefined);
  // 0.0 wins one and loses one at 0.75: (1 − 0.5)/2
  assert.deepEqual(
    [...advantages].map(([id, a]) => [id, ...a]),
    [
      ["0.0", 0.25, 0.25],
      ["0.1", -1, -1],
      ["0.2", 0.5, 0.5],
    ],
  );
  assert.equal(stats.pairs, 2);
  // rows of two tokens each, in the units' order
  assert.deepEqual(pairsOf(batchFor(evidence)), [
    { number: 1, strength: 1, chosen: [0, 1], rejected: [2, 3] },
    { number: 2, strength: 0.75, chosen: [4, 5], rejected: [0, 1] },
  ]);
});

test("preferencePairs: the best of three against both others; nothing compared is nothing", () => {
  const evidence = { ...evidenceOf([[0, 0, 0]]), signals: [vote(1, ["0.0", "0.1", "0.2"])] };
  const pairs = pairsOf(batchFor(evidence));
  assert.deepEqual(
    pairs.map((p) => [p.chosen, p.rejected]),
    [
      [
        [2, 3],
        [0, 1],
      ],
      [
        [2, 3],
        [4, 5],
      ],
    ],
  );
  const none = preferencePairs().apply(evidenceOf([[1, 0]]), null, undefined);
  assert.deepEqual([none.advantages.size, none.stats.pairs], [0, 0]);
});

test("preferencePairs: a part of the batch without a side of a pair does not hold the pair", () => {
  const evidence = {
    ...evidenceOf([[0, 0, 0]]),
    signals: [vote(0, ["0.0", "0.1"]), vote(0, ["0.1", "0.2"])],
  };
  const batch = batchFor(evidence);
  assert.deepEqual(
    pairsOf(selectRows(batch, [1, 2])).map((p) => [p.number, p.chosen, p.rejected]),
    [[2, [0, 1], [2, 3]]],
  );
});

test("preferencePairs: spans that are left out, and a place that is one turn", () => {
  const turns = [turnOf([1], [2, 3, 4], { spans: { thought: [[0, 2]] } }), turnOf([1, 2], [5])];
  const trajectories = [trajectoryOf("a", turns), trajectoryOf("b", turns)];
  const annotated: AnnotatedExperience = {
    ...evidenceOf([]),
    trajectories,
    units: trajectories.map(({ id }) => ({ id, group: "g", members: [id] })),
    signals: [{ ...vote(0, []), about: [{ trajectory: "a" }, { trajectory: "b", turn: 0 }] }],
  };
  const [pair] = pairsOf(batchFor(annotated, preferencePairs({ without: ["thought"] })));
  assert.deepEqual([pair!.chosen, pair!.rejected], [[2, 3], [6]]);
});
