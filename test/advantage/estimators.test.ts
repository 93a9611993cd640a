import assert from "node:assert/strict";
import { test } from "node:test";
import { groupNormalised } from "../../src/advantage/groupNormalised.ts";
import { leaveOneOut } from "../../src/advantage/leaveOneOut.ts";
import { returnsToGo } from "../../src/advantage/returnsToGo.ts";
import { runningBaseline } from "../../src/advantage/runningBaseline.ts";
import type { Advantage, AnnotatedExperience, Credited } from "../../src/core/slots.ts";
import { evidenceOf } from "../core/make.ts";
import { apply, type Law, near, obeys, type Rewards } from "./laws.ts";

const table: readonly {
  readonly name: string;
  readonly make: () => Advantage;
  readonly laws: readonly Law[];
}[] = [
  {
    name: "groupNormalised",
    make: () => groupNormalised(),
    laws: ["shift", "scaleFree", "sumsToZero", "permutes", "deadIsZero", "loneIsZero", "oneOverTokens"],
  },
  {
    name: "groupNormalised without scale",
    make: () => groupNormalised({ scale: "none" }),
    laws: ["shift", "scales", "sumsToZero", "permutes", "deadIsZero", "loneIsZero", "oneOverTokens"],
  },
  {
    name: "leaveOneOut",
    make: () => leaveOneOut(),
    laws: ["shift", "scales", "sumsToZero", "permutes", "deadIsZero", "loneIsZero", "oneOverTokens"],
  },
  { name: "runningBaseline", make: () => runningBaseline(), laws: ["scales", "permutes", "oneOverTokens"] },
  {
    name: "returnsToGo",
    make: () => returnsToGo(),
    laws: ["shift", "scales", "sumsToZero", "permutes", "deadIsZero", "loneIsZero", "oneOverTokens"],
  },
];

for (const { name, make, laws } of table) obeys(name, make, laws);

test("groupNormalised is worked by hand", () => {
  // 1, 0, 0, 1: mean 0.5, deviation 0.5
  near(apply(groupNormalised(), [[1, 0, 0, 1]]), [[1, -1, -1, 1]], 1e-6);
  near(apply(groupNormalised({ weight: 0.5 }), [[1, 0, 0, 1]]), [[0.5, -0.5, -0.5, 0.5]], 1e-6);
});

test("groupNormalised does not blow up tiny differences, and counts dead groups", () => {
  const { advantages, stats } = groupNormalised({ floor: 0.1 }).apply(
    evidenceOf([
      [0.01, 0],
      [1, 1],
    ]),
    null,
    undefined,
  );
  assert.ok(Math.abs(advantages.get("0.0")![0]! - 0.05) < 1e-6);
  assert.equal(stats.deadGroups, 0.5);
});

test("leaveOneOut is worked by hand", () => {
  // 1, 0, 0: 1 − (0 + 0)/2 = 1; 0 − (1 + 0)/2 = −0.5
  near(apply(leaveOneOut(), [[1, 0, 0]]), [[1, -0.5, -0.5]], 1e-6);
});

test("runningBaseline uses earlier iterations alone", () => {
  const estimator = runningBaseline({ keep: 0.5 });
  const first = estimator.apply(evidenceOf([[1, 0]]), estimator.init(), undefined);
  assert.deepEqual(
    [...first.advantages.values()].map((a) => a[0]),
    [1, 0],
  );
  assert.deepEqual(first.next, { baseline: 0.5 });
  const second = estimator.apply(evidenceOf([[1, 1]]), first.next, undefined);
  assert.deepEqual(
    [...second.advantages.values()].map((a) => a[0]),
    [0.5, 0.5],
  );
  assert.deepEqual(second.next, { baseline: 0.75 });
});

test("runningBaseline: a baseline of its own for every group that was met", () => {
  const estimator = runningBaseline({ keep: 0.5, per: "group" });
  const first = estimator.apply(evidenceOf([[1, 0], [4]]), estimator.init(), undefined);
  assert.deepEqual(first.next.groups, { task0: 0.5, task1: 4 });
  const second = estimator.apply(evidenceOf([[1, 1], [2]]), first.next, undefined);
  // 1 − 0.5 twice; 2 − 4
  assert.deepEqual(
    [...second.advantages.values()].map((a) => a[0]),
    [0.5, 0.5, -2],
  );
  // 0.5 · 0.5 + 0.5 · 1; 0.5 · 4 + 0.5 · 2
  assert.deepEqual(second.next.groups, { task0: 0.75, task1: 3 });
  assert.deepEqual(estimator.apply(evidenceOf([]), second.next, undefined).next, second.next);
});

test("returnsToGo is worked by hand over two turns", () => {
  // a pays 0 then 1, b pays 1 then 0; discount 0.5: to go a = (0.5, 1), b = (1, 0); means per turn 0.75 and 0.5
  const annotated = evidenceOf([[0, 0]], () => 2);
  const pay = (id: string, turn: number, value: number): Credited => ({
    at: { trajectory: id, turn },
    value,
  });
  const paid: AnnotatedExperience = {
    ...annotated,
    channels: { step: [pay("0.0", 0, 0), pay("0.0", 1, 1), pay("0.1", 0, 1), pay("0.1", 1, 0)] },
  };
  const { advantages } = returnsToGo({ discount: 0.5 }).apply(paid, null, undefined);
  assert.deepEqual([...advantages.get("0.0")!], [-0.25, -0.25, 0.5, 0.5]);
  assert.deepEqual([...advantages.get("0.1")!], [0.25, 0.25, -0.5, -0.5]);
});

test("returnsToGo, normalised: equal returns do not blow up, with a baseline or without", () => {
  const of = (baseline: "turn" | "group" | "none", rewards: Rewards) =>
    apply(returnsToGo({ normalise: true, baseline }), rewards);
  // a sum of tenths is off by the last bit
  const equal = [[0.3, 0.3, 0.1 + 0.2], [2]];
  near(of("turn", equal), [[0, 0, 0], [0]]);
  near(of("group", equal), [[0, 0, 0], [0]]);
  near(of("none", equal), [[0.3, 0.3, 0.3], [2]]);
  // 1, 3: mean 2, deviation 1; 0, 4: deviation 2
  near(of("turn", [[1, 3]]), [[-1, 1]]);
  near(of("none", [[0, 4]]), [[0, 2]]);
});

test("returnsToGo sums a trajectory once for each of its units", () => {
  const annotated = evidenceOf([[0, 0]], () => 3);
  const pay = (turn: number): Credited => ({ at: { trajectory: "0.0", turn }, value: 1 });
  const units = ["x", "y"].map((id) => ({ id, group: id, members: ["0.0"] }));
  const paid: AnnotatedExperience = { ...annotated, units, channels: { step: [pay(0), pay(1), pay(2)] } };
  const { advantages } = returnsToGo({ baseline: "none" }).apply(paid, null, undefined);
  assert.deepEqual([...advantages.get("0.0")!], [3, 3, 2, 2, 1, 1]);
});

test("a list of estimators runs all of it", () => {
  const annotated = evidenceOf([[1, 0, 0, 1]]);
  const b = [0, 1, 0, 1].map((value, i) => ({ at: { trajectory: `0.${i}` }, value }));
  const two: AnnotatedExperience = { ...annotated, channels: { a: annotated.channels.outcome!, b } };
  const first = groupNormalised({ channels: ["a"] }).apply(two, null, undefined);
  const { advantages } = groupNormalised({ channels: ["b"] }).apply(two, null, first.advantages);
  assert.deepEqual(
    [...advantages.values()].map((x) => x[0]),
    [0, 0, -2, 2],
  );
});

test("a unit of several trajectories is worth what its members got, on the tokens of all of them", () => {
  const annotated = evidenceOf([[1, 2, 0, 0]]);
  const pair = (id: string, members: string[]) => ({ id, group: "g", members });
  const paired = { ...annotated, units: [pair("x", ["0.0", "0.1"]), pair("y", ["0.2", "0.3"])] };
  const { advantages } = leaveOneOut().apply(paired, null, undefined);
  assert.deepEqual(
    [...advantages.values()].map((a) => a[0]),
    [3, 3, -3, -3],
  );
});
