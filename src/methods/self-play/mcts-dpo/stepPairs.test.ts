import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { paid, type Trajectory } from "../../../core/types.ts";
import { treeOfEpisodes } from "../../../rollout/searchTree.ts";
import { stepPairs, stepPairsOf } from "./stepPairs.ts";

const saying = (id: string, words: string, outcome: number): Trajectory =>
  trajectoryOf(
    id,
    words.split(" ").map((content, k, { length }) =>
      turnOf([1, k], [2, 3], {
        action: { role: "assistant", content },
        rewards: k === length - 1 ? { outcome } : {},
      }),
    ),
  );
//                 Q(a) = 2/3 of 3 episodes, Q(b) = 0 of 2; after a: Q(x) = 1 of 2, Q(y) = 0 of 1
const episodes = [
  saying("1", "a y", 0),
  saying("2", "b y", 0),
  saying("3", "a x", 1),
  saying("4", "b x", 0),
  saying("5", "a x", 1),
];

test("stepPairsOf: best against worst at each situation of the best way, trusted by visits", () => {
  const pairs = stepPairsOf(treeOfEpisodes(episodes, paid), true);
  assert.deepEqual(
    pairs.map(({ chosen, rejected, strength }) => [
      chosen.depth,
      chosen.action,
      rejected.action,
      Math.round(strength * 1e6) / 1e6,
    ]),
    [
      [1, "a", "b", 0.6], // 3 / (3 + 2): α = 1 / (3/2 + 1)
      [2, "x", "y", 0.666667],
    ],
  );
  assert.deepEqual(
    stepPairsOf(treeOfEpisodes(episodes, paid), false).map(({ strength }) => strength),
    [1, 1],
  );
});

test("no pair where nothing is better: equal values, a single action, no episode", () => {
  assert.deepEqual(stepPairsOf(treeOfEpisodes([saying("1", "a", 0), saying("2", "b", 0)], paid), true), []);
  assert.deepEqual(stepPairsOf(treeOfEpisodes([saying("1", "a x", 1)], paid), true), []);
  assert.deepEqual(stepPairsOf(treeOfEpisodes([], paid), true), []);
});

test("stepPairs: signals about the step alone, by which both sides differ", async () => {
  const experience = { trajectories: episodes, units: [] };
  const signals = await stepPairs({ smoothing: true })(ctxOf({}), experience, {});
  assert.deepEqual(
    signals.map(({ about }) => about),
    [
      [
        { trajectory: "1", turn: 0 },
        { trajectory: "2", turn: 0 },
      ],
      [
        { trajectory: "3", turn: 1 },
        { trajectory: "1", turn: 1 },
      ],
    ],
  );
  const { columns } = preferencePairs().apply(
    { ...experience, notes: {}, signals, channels: {} },
    null,
    undefined,
  );
  // attempt 1 is the better one at its first step and the worse one at its second
  assert.deepEqual([...columns!["pair.0"]!.get("1")!].map(Number), [1, 1, Number.NaN, Number.NaN]);
  assert.deepEqual([...columns!["pair.1"]!.get("1")!].map(Number), [Number.NaN, Number.NaN, -2, -2]);
});

test("tasks have trees of their own", async () => {
  const other = episodes.map((t) => ({ ...t, id: `other ${t.id}`, task: "other" }));
  const signals = await stepPairs({ smoothing: true })(
    ctxOf({}),
    { trajectories: [...episodes, ...other], units: [] },
    {},
  );
  assert.equal(signals.length, 4);
  for (const { about } of signals)
    assert.equal(about[0]!.trajectory.startsWith("other"), about[1]!.trajectory.startsWith("other"));
});
