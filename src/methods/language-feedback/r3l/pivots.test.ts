import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Trajectory } from "../../../core/types.ts";
import { pivots } from "./pivots.ts";

const turns = (count: number) => Array.from({ length: count }, () => turnOf([1], [2]));
const of = (id: string, count: number, parent?: string, turn = 0): Trajectory =>
  trajectoryOf(id, turns(count), parent === undefined ? {} : { lineage: { parent, turn, why: "retry" } });

test("pivots: shared turns are 0 for an attempt and its retries, each from its own pivot on", async () => {
  const trajectories = [
    of("first", 4),
    of("late", 3, "first", 2),
    of("early", 5, "first", 1),
    of("again", 4, "late", 3),
    of("alone", 2),
    of("orphan", 2, "gone", 1),
  ];
  const { pivot } = await pivots()(ctxOf({}), { trajectories, units: [] });
  const got = Object.fromEntries([...pivot!].map(([id, note]) => [id, [...note]]));
  assert.deepEqual(got, {
    first: [0, 1, 1, 1],
    late: [0, 0, 1],
    early: [0, 1, 1, 1, 1],
    again: [0, 0, 0, 1],
    orphan: [0, 1],
  });
});
