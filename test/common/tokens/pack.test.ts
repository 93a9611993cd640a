import assert from "node:assert/strict";
import { test } from "node:test";
import {
  actionRows,
  batchOf,
  gather,
  pack,
  pairRows,
  prefixed,
  rebased,
  selectRows,
  togetherGroups,
  trajectoryRows,
  withColumns,
} from "../../../src/common/tokens/pack.ts";
import { byPlace, tokenRange, turnOffsets } from "../../../src/common/tokens/tokenRanges.ts";
import type { Ref } from "../../../src/core/types.ts";
import { oldColumn } from "../../../src/objective/clippedRatio.ts";
import { batchOfRows, trajectoryOf, turnOf } from "../../core/make.ts";

const unit = (id: string, group = "g") => ({ id, group, members: [id] });

test("trajectoryRows merges turns while each prompt extends the sequence, and cuts where it does not", () => {
  const t = trajectoryOf("t", [turnOf([1, 2], [3]), turnOf([1, 2, 3, 4], [5, 6]), turnOf([9], [7])]);
  const { rows, cuts } = trajectoryRows(t, unit("t"), Float32Array.of(1, 2, 3, 4));
  assert.equal(cuts, 1);
  assert.deepEqual(
    rows.map((r) => [...r.tokens]),
    [
      [1, 2, 3, 4, 5, 6],
      [9, 7],
    ],
  );
  assert.deepEqual(
    rows.map((r) => [...r.targets]),
    [[2, 4, 5], [1]],
  );
  assert.deepEqual(
    rows.map((r) => [...r.turn]),
    [[0, 1, 1], [2]],
  );
  assert.deepEqual(
    rows.map((r) => [...r.advantage]),
    [[1, 2, 3], [4]],
  );
  assert.deepEqual(
    rows.map((r) => r.info.from),
    [0, 3],
  );
});

test("trajectoryRows gives forced tokens no weight, and keeps unknown log-probabilities unknown", () => {
  const turn = turnOf([1], [2, 3]);
  const tokens = { ...turn.tokens!, forced: Uint8Array.of(1, 0), behaviour: new Float32Array(0) };
  const [row] = trajectoryRows(trajectoryOf("t", [{ ...turn, tokens }]), unit("t"), new Float32Array(2)).rows;
  assert.deepEqual([...row!.weight], [0, 1]);
  assert.ok(row!.behaviour.every(Number.isNaN));
});

test("trajectoryRows says how many advantages it wanted", () => {
  const t = trajectoryOf("t", [turnOf([1], [2, 3])]);
  assert.throws(() => trajectoryRows(t, unit("t"), new Float32Array(3)), /got 3 advantages.*expected 2/);
});

test("pack refuses a target without a prompt", () => {
  assert.throws(() => actionRows(trajectoryOf("t", [turnOf([], [2])])), /at least one prompt token/);
});

test("selectRows keeps each target's place in the whole, also twice over; rebased starts anew", () => {
  const batch = batchOfRows([
    { behaviour: [-1, -2], advantage: [1, 2] },
    { behaviour: [-3], advantage: [3] },
    { behaviour: [-4, -5], advantage: [4, 5] },
  ]);
  const part = selectRows(batch, [2, 1]);
  assert.deepEqual([...part.index_A], [3, 4, 2]);
  assert.deepEqual([...part.advantage_A], [4, 5, 3]);
  assert.deepEqual([...part.target_A], [1, 2, 4]);
  const twice = selectRows(part, [1]);
  assert.deepEqual([...twice.index_A], [2]);
  assert.deepEqual([...rebased(part).index_A], [0, 1, 2]);
  assert.deepEqual([...gather(Float32Array.of(0, 1, 2, 3, 4), part.index_A)], [3, 4, 2]);
  assert.deepEqual(
    part.units.map((u) => u.id),
    ["t1", "t2"],
  );
});

test("columns travel with their rows, and are NaN where a row has none", () => {
  const spec = { behaviour: [-1], advantage: [1] };
  const whole = withColumns(batchOfRows([spec, spec]), { [oldColumn]: Float32Array.of(7, 8) });
  assert.deepEqual([...selectRows(whole, [1]).columns[oldColumn]!], [8]);
  const t = trajectoryOf("t", [turnOf([1], [2])]);
  const [row] = trajectoryRows(t, unit("t"), Float32Array.of(0)).rows;
  const mixed = pack([row!, { ...row!, columns: { clip: Float32Array.of(0.3) } }], [unit("t")]);
  assert.ok(Number.isNaN(mixed.columns.clip![0]!) && Math.abs(mixed.columns.clip![1]! - 0.3) < 1e-6);
});

test("togetherGroups splits by row, by group, or not at all", () => {
  const spec = { behaviour: [-1], advantage: [1] };
  const batch = batchOfRows([
    { ...spec, group: "a" },
    { ...spec, group: "b" },
    { ...spec, group: "a" },
  ]);
  assert.deepEqual(togetherGroups(batch, "row"), [[0], [1], [2]]);
  assert.deepEqual(togetherGroups(batch, "group"), [[0, 2], [1]]);
  assert.deepEqual(togetherGroups(batch, "batch"), [[0, 1, 2]]);
});

test("batchOf leaves out trajectories without advantages", () => {
  const a = trajectoryOf("a", [turnOf([1], [2])]);
  const b = trajectoryOf("b", [turnOf([1], [2])]);
  const { batch } = batchOf([a, b], [unit("a"), unit("b")], new Map([["b", Float32Array.of(1)]]));
  assert.deepEqual(
    batch.rows.map((r) => r.trajectory),
    ["b"],
  );
});

test("prefixed moves the targets with their tokens", () => {
  const rows = prefixed(pairRows([{ prompt: Int32Array.of(1), target: Int32Array.of(2, 3) }]), () =>
    Int32Array.of(8, 9),
  );
  assert.deepEqual([...rows.tokens_N], [8, 9, 1, 2, 3]);
  assert.deepEqual([...rows.target_A], [3, 4]);
});

test("places: turns and spans as ranges of action tokens, cut at the turn's end", () => {
  const t = trajectoryOf("t", [turnOf([1], [2, 3]), turnOf([1], [4, 5, 6])]);
  assert.deepEqual([...turnOffsets(t)], [0, 2, 5]);
  assert.deepEqual(tokenRange(t, { trajectory: "t" }), [0, 5]);
  assert.deepEqual(tokenRange(t, { trajectory: "t", turn: 1 }), [2, 5]);
  assert.deepEqual(tokenRange(t, { trajectory: "t", turn: 1, span: [1, 9] }), [3, 5]);
  assert.deepEqual(tokenRange(t, { trajectory: "t", turn: 7 }), [5, 5]);
});

test("batchOf gives each row its part of an estimator's columns; a trajectory without one has no value, not 0", () => {
  const cut = trajectoryOf("a", [turnOf([1, 2], [3]), turnOf([9], [7, 8])]);
  const whole = trajectoryOf("b", [turnOf([1], [2])]);
  const advantages = new Map([
    ["a", Float32Array.of(1, 2, 3)],
    ["b", Float32Array.of(4)],
  ]);
  const spread = new Map([["a", Float32Array.of(10, 20, 30)]]);
  const { batch } = batchOf([cut, whole], [unit("a"), unit("b")], advantages, [], { spread });
  assert.deepEqual([...batch.columns.spread!], [10, 20, 30, Number.NaN]);
  assert.deepEqual([...selectRows(batch, [1]).columns.spread!], [20, 30]);
});

test("places are ordered by turn, a whole turn before its spans, spans by their beginning", () => {
  const places: Ref[] = [
    { trajectory: "t", turn: 1 },
    { trajectory: "t", turn: 0, span: [2, 3] },
    { trajectory: "t", turn: 0, span: [0, 2] },
    { trajectory: "t" },
    { trajectory: "t", turn: 0 },
  ];
  assert.deepEqual(
    places.toSorted(byPlace).map(({ turn, span }) => [turn, span?.[0]]),
    [
      [undefined, undefined],
      [0, undefined],
      [0, 0],
      [0, 2],
      [1, undefined],
    ],
  );
});
