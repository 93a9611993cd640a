import assert from "node:assert/strict";
import { test } from "node:test";
import { type ComparedRun, compareRuns, comparisonPage, warningsOf } from "../../src/train/compare.ts";

const run = (method: string, seed: number, success: number, curve: readonly number[]): ComparedRun => ({
  method,
  seed,
  heldOut: { test: success },
  curve,
  episodes: 100,
  tokens: 1000,
  seconds: 2,
});

const about = { env: "maze", engine: "tabular", seeds: [1, 2, 3], tuningSeeds: 0, iterations: 2 };
const runs = [
  run("grpo", 1, 0.5, [0, 0.5]),
  run("new", 1, 0.7, [0.5, 1]),
  run("grpo", 2, 0.6, [0, 0.5]),
  run("new", 2, 0.7, [0.5, 1]),
  run("grpo", 3, 0.7, [0, 0.5]),
  run("new", 3, 1, [0.5, 1]),
];

test("compareRuns pairs by seed against the first method", () => {
  const { methods } = compareRuns(about, runs);
  assert.deepEqual(
    methods.map((m) => m.method),
    ["grpo", "new"],
  );
  const [grpo, other] = methods;
  assert.equal(grpo!.against, undefined);
  assert.ok(Math.abs(grpo!.heldOut.test!.mean - 0.6) < 1e-12);
  // differences 0.2, 0.1, 0.3: mean 0.2, deviation 0.1, t(0.975, 2) = 4.3027, half = 4.3027 · 0.1 / √3 = 0.2484
  const { difference, improvement } = other!.against!.test!;
  assert.ok(Math.abs(difference.mean - 0.2) < 1e-12);
  assert.ok(Math.abs(difference.low + 0.0484) < 1e-4);
  assert.ok(Math.abs(difference.high - 0.4484) < 1e-4);
  // 0.7 beats 0.5 and 0.6 and ties with 0.7, twice; 1 beats all: (2.5 + 2.5 + 3) / 9
  assert.ok(Math.abs(improvement - 8 / 9) < 1e-12);
  assert.deepEqual(other!.curve, [0.5, 1]);
  assert.equal(other!.training.mean, 0.75);
});

test("shares and their differences are shown within what can be, however few seeds there are", () => {
  const page = comparisonPage(compareRuns({ ...about, seeds: [1, 3] }, runs));
  // grpo on seeds 1 and 3: mean 0.6, deviation 0.1414, t(0.975, 1) = 12.706: half 1.27
  assert.match(page, /`grpo` \| 60\.0 \[0\.0, 100\.0\]/);
  assert.match(page, /`new` \| 85\.0 \[0\.0, 100\.0\] \| 25\.0 \[-38\.5, 88\.5\]/);
  const apart = [
    run("grpo", 1, 0, [0]),
    run("new", 1, 1, [1]),
    run("grpo", 2, 1, [0]),
    run("new", 2, 0.1, [1]),
  ];
  assert.match(comparisonPage(compareRuns({ ...about, seeds: [1, 2] }, apart)), /5\.0 \[-100\.0, 100\.0\]/);
});

test("the order in which runs were made does not matter, and a page shows every method", () => {
  const shuffled = compareRuns(about, [
    ...runs.filter((r) => r.method === "grpo"),
    ...runs.filter((r) => r.method === "new").toReversed(),
  ]);
  assert.deepEqual(shuffled, compareRuns(about, runs));
  const page = comparisonPage(shuffled);
  assert.match(page, /# grpo, new on maze/);
  assert.match(page, /`new` \| 80\.0 \[/);
  assert.match(page, /▁▅/);
});

test("a page keeps every run, how settings were chosen, and the code", () => {
  const rate = (learningRate: number) => ({ choice: { learningRate }, training: learningRate });
  const tuned = { chosen: { learningRate: 0.2 }, tried: [rate(0.1), rate(0.2)], atEdge: [] };
  const coded = runs.map((one) => ({ ...one, code: "commit 0123456789ab" }));
  const page = comparisonPage(compareRuns({ ...about, tuningSeeds: 5 }, coded, new Map([["new", tuned]])));
  assert.match(page, /on 5 seeds that are not reported/);
  assert.match(
    page,
    /\| `new` \| learningRate 0\.2 \| learningRate 0\.1: 10\.0; learningRate 0\.2: 20\.0 \|/,
  );
  assert.match(page, /\| new \| test \| 70\.0 \| 70\.0 \| 100\.0 \|/);
  assert.match(page, /Code: commit 0123456789ab\./);
  assert.match(comparisonPage(compareRuns(about, runs)), /Nothing was tuned/);
});

test("means at the ceiling or the floor are named, and settings at the edge of their lists", () => {
  const at = (grpo: number, other: number) =>
    compareRuns({ ...about, seeds: [1] }, [run("grpo", 1, grpo, [0]), run("new", 1, other, [0])]);
  assert.deepEqual(warningsOf(at(0.5, 0.949)), []);
  const [high, ...more] = warningsOf(at(0.96, 0.95));
  assert.match(high!, /^test: near the ceiling: grpo \(96\.0 %\), new \(95\.0 %\)\. .*cannot be told apart/);
  assert.deepEqual(more, []);
  assert.match(warningsOf(at(0.5, 0.05))[0]!, /^test: near the floor: new \(5\.0 %\)\./);
  assert.match(comparisonPage(at(0.96, 0.5)), /What to mind:\n\n- test: near the ceiling: grpo/);
  const tuned = { chosen: { learningRate: 2 }, tried: [], atEdge: ["learningRate"] };
  const [edge] = warningsOf(compareRuns(about, runs, new Map([["new", tuned]])));
  assert.match(edge!, /^new: the best step size, 2, lies at the edge of its list/);
});
