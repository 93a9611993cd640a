import assert from "node:assert/strict";
import { test } from "node:test";
import { newColumn, newTurns } from "../../src/advantage/newTurns.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

test("newTurns: the tokens of turns that were taken over are not trained on", () => {
  const turns = Array.from({ length: 3 }, () => turnOf([1], [2, 3]));
  const branched = trajectoryOf("t", turns, { lineage: { parent: "p", turn: 2, why: "branch" } });
  const annotated = {
    trajectories: [branched, trajectoryOf("whole", turns)],
    units: [],
    notes: {},
    signals: [],
    channels: {},
  };
  const { columns } = newTurns().apply(annotated, null, undefined);
  assert.deepEqual([...columns![newColumn]!.get("t")!], [0, 0, 0, 0, 1, 1]);
  assert.deepEqual([...columns![newColumn]!.get("whole")!], [1, 1, 1, 1, 1, 1]);
});
