import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { masked } from "../../../advantage/masked.ts";
import { mismatchRejected } from "./mismatchRejected.ts";

test("masked multiplies turn by turn, and leaves alone what the note does not know", () => {
  const annotated = evidenceOf([[1, 1]], () => 2);
  const notes = { kept: new Map([["0.0", Float32Array.of(1, 0)]]) };
  const soFar = new Map([
    ["0.0", Float32Array.of(1, 2, 3, 4)],
    ["0.1", Float32Array.of(5, 6, 7, 8)],
  ]);
  const { advantages, stats } = masked({ note: "kept" }).apply({ ...annotated, notes }, null, soFar);
  assert.deepEqual([...advantages.get("0.0")!], [1, 2, 0, 0]);
  assert.deepEqual([...advantages.get("0.1")!], [5, 6, 7, 8]);
  assert.deepEqual(stats, { kept: 0.5 });
  assert.equal(masked({ note: "kept" }).apply(annotated, null, undefined).advantages.size, 0);
});

test("mismatchRejected drops who drifts on the whole, and who has one token that the trainer finds impossible", () => {
  const of = (id: string, gaps: readonly number[]) => {
    const turn = turnOf([1], [2, 3]);
    const behaviour = turn.tokens!.logp.map((logp, a) => logp - gaps[a]!);
    return trajectoryOf(id, [{ ...turn, tokens: { ...turn.tokens!, behaviour } }]);
  };
  const trajectories = [
    of("same", [0, 0]),
    of("cancels", [0.2, -0.2]),
    of("drifts", [0.004, 0]), // geometric mean e^0.002 > 1.001
    of("veto", [-10, 10]), // e^−10 < 1e-4
    of("unknown", [Number.NaN, Number.NaN]),
  ];
  const evidence = { ...evidenceOf([]), trajectories };
  const soFar = new Map(trajectories.map((t) => [t.id, Float32Array.of(1, 1)]));
  const { advantages, stats } = mismatchRejected().apply(evidence, null, soFar);
  assert.deepEqual([...advantages.keys()], ["same", "cancels", "unknown"]);
  assert.ok(Math.abs(stats.rejected! - 0.4) < 1e-12);
  const wide = mismatchRejected({ mean: [0.9, 1.1], veto: 0 }).apply(evidence, null, soFar);
  assert.equal(wide.advantages.size, 5);
});
