import assert from "node:assert/strict";
import { test } from "node:test";
import { type ReturnsToGoOptions, returnsToGo } from "../../src/advantage/returnsToGo.ts";
import type { AnnotatedExperience } from "../../src/core/slots.ts";
import { evidenceOf } from "../core/make.ts";
import { near, obeys } from "./laws.ts";

/** Rewards by group, trajectory and turn; episodes may end at different turns. */
type TurnRewards = readonly (readonly (readonly number[])[])[];

function paid(rewards: TurnRewards): AnnotatedExperience {
  const annotated = evidenceOf(
    rewards.map((group) => group.map(() => undefined)),
    (g, i) => rewards[g]![i]!.length,
  );
  const step = rewards.flatMap((group, g) =>
    group.flatMap((turns, i) =>
      turns.map((value, turn) => ({ at: { trajectory: `${g}.${i}`, turn }, value })),
    ),
  );
  return { ...annotated, channels: { step } };
}

/** Advantages by group, trajectory and turn. */
function perTurn(rewards: TurnRewards, options: ReturnsToGoOptions): number[][][] {
  const { advantages } = returnsToGo(options).apply(paid(rewards), null, undefined);
  return rewards.map((group, g) =>
    group.map((turns, i) => turns.map((_, k) => advantages.get(`${g}.${i}`)![2 * k]!)),
  );
}

function same(got: number[][][], want: TurnRewards): void {
  got.forEach((group, g) => {
    near(group, want[g]!, 1e-5);
  });
}

obeys("returnsToGo, one left out", () => returnsToGo({ leaveOneOut: true }), [
  "scales",
  "permutes",
  "deadIsZero",
]);
obeys("returnsToGo against the stage", () => returnsToGo({ baseline: "stage" }), [
  "shift",
  "scales",
  "loneIsZero",
]);
obeys("returnsToGo against the batch", () => returnsToGo({ baseline: "batch", normalise: true }), [
  "shift",
  "scaleFree",
]);

test("one left out, by turn: who has ended is no part of the mean", () => {
  // to go a (3, 2), b (1, 0), c (4) alone after turn 0: 3 − (1 + 4)/2 = 0.5, 1 − 3.5, 4 − 2; turn 1: 2 − 0, 0 − 2
  const rewards = [[[1, 2], [1, 0], [4]]];
  same(perTurn(rewards, { leaveOneOut: true }), [[[0.5, 2], [-2.5, -2], [2]]]);
});

test("one left out: the last one still playing is measured against 0", () => {
  same(perTurn([[[0, 5], [1]]], { leaveOneOut: true }), [[[4, 5], [-4]]]);
  same(perTurn([[[0, 5], [1]]], {}), [[[2, 0], [-2]]]);
});

test("one left out: what is expected is what the others got, whatever the size of the group", () => {
  // the sum of (A − G) over all is −Σ_i mean of the others = −Σ G
  for (const group of [
    [[1], [2]],
    [[3], [1], [5]],
    [[0], [0], [0], [8]],
  ]) {
    const sum = perTurn([group], { leaveOneOut: true })[0]!
      .flat()
      .reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum) < 1e-5);
  }
});

test("the stage compares across groups, the batch across turns as well", () => {
  // discount 0: turn 0 holds 1, 3, 8, turn 1 holds 2, 6. Means 4 and 4; of all five 4
  const rewards = [[[1, 2], [3]], [[8, 6]]];
  same(perTurn(rewards, { discount: 0, baseline: "stage" }), [[[-3, -2], [-1]], [[4, 2]]]);
  same(perTurn(rewards, { discount: 0, baseline: "batch" }), [[[-3, -2], [-1]], [[4, 2]]]);
  // to go: (3, 2), (3), (14, 6): turn 0 mean 20/3, turn 1 mean 4; of all 28/5
  same(perTurn(rewards, { baseline: "stage" }), [[[-11 / 3, -2], [-11 / 3]], [[22 / 3, 2]]]);
  same(perTurn(rewards, { baseline: "batch" }), [[[-2.6, -3.6], [-2.6]], [[8.4, 0.4]]]);
});

test("where too few of a group reach a turn, the stage takes their place", () => {
  // turn 0 has two in each group: 1 and 3, 5 and 9. Turn 1 has one in each: 2 and 6, mean 4
  const rewards = [
    [[1, 2], [3]],
    [[5, 6], [9]],
  ];
  same(perTurn(rewards, { discount: 0, least: 2 }), [
    [[-1, -2], [1]],
    [[-2, 2], [2]],
  ]);
});

test("a weight is a share: two estimators in a list mix", () => {
  const rewards = [[[1, 2], [3]], [[8, 6]]];
  const first = returnsToGo({ baseline: "stage", weight: 0.25 }).apply(
    paid(rewards),
    null,
    undefined,
  ).advantages;
  const both = returnsToGo({ baseline: "batch", weight: 0.75 }).apply(paid(rewards), null, first).advantages;
  // 0.0 at turn 0: −11/3 against the stage, −2.6 against the batch
  assert.ok(Math.abs(both.get("0.0")![0]! - ((0.25 * -11) / 3 + 0.75 * -2.6)) < 1e-5);
});

test("where groups shrink, one left out samples the exact gradient; centred by the mean it shrinks turn by turn", () => {
  // two turns of two actions with p(1) = 0.3 and 0.6; half of the episodes end after the first
  const chance = [0.3, 0.6] as const;
  const pay = [
    [0.5, 1],
    [0, 2],
  ] as const;
  const episodes = [0, 1].flatMap((first) => [
    { actions: [first], odds: 0.5 },
    ...[0, 1].map((second) => ({ actions: [first, second], odds: 0.5 })),
  ]);
  const weighed = episodes.map(({ actions, odds }) => ({
    rewards: actions.map((a, k) => pay[k]![a]!),
    scores: actions.map((a, k) => a - chance[k]!), // slope of ln p in the logit of action 1
    p: actions.reduce((p, a, k) => p * (a === 1 ? chance[k]! : 1 - chance[k]!), odds),
  }));
  const expected = (options: ReturnsToGoOptions): number[] => {
    const sum = [0, 0];
    for (const a of weighed) {
      for (const b of weighed) {
        const [A] = perTurn([[a.rewards, b.rewards]], options);
        [a, b].forEach(({ scores }, i) => {
          scores.forEach((score, k) => {
            sum[k]! += (a.p * b.p * A![i]![k]! * score) / 2;
          });
        });
      }
    }
    return sum;
  };
  const exact = [0, 1].map((k) =>
    weighed.reduce((sum, { rewards, scores, p }) => {
      const toGo = rewards.slice(k).reduce<number>((a, b) => a + b, 0);
      return sum + p * (scores[k] ?? 0) * toGo;
    }, 0),
  );
  expected({ leaveOneOut: true }).forEach((x, k) => {
    assert.ok(Math.abs(x - exact[k]!) < 1e-6, `turn ${k}: ${x}, expected ${exact[k]}`);
  });
  // 1 − 1/N: N = 2 at the first turn; at the second 2 or 1, equally often, given that one is there: (1/2 + 0)/2
  const factors = [0.5, 0.25];
  expected({}).forEach((x, k) => {
    assert.ok(Math.abs(x - factors[k]! * exact[k]!) < 1e-6, `turn ${k}: ${x / exact[k]!}`);
  });
});

test("against the same state: whoever was there, at whatever turn, and as often as it was", () => {
  const annotated = paid([[[0, 0, 1], [0, 0], [0]]]);
  const states = [["a", "a", "b"], ["b", "a"], [undefined]];
  const placed = annotated.trajectories.map((t, i) => ({
    ...t,
    turns: t.turns.map((turn, k) => {
      const stateKey = states[i]![k];
      return stateKey === undefined ? turn : { ...turn, stateKey };
    }),
  }));
  const there = { ...annotated, trajectories: placed };
  const { advantages, stats } = returnsToGo({ baseline: "state", discount: 0.5 }).apply(
    there,
    null,
    undefined,
  );
  // returns 0.25 0.5 1, 0 0 and 0; at a 0.25, 0.5, 0 with mean 0.25; at b 1, 0 with mean 0.5; the last one stands alone
  near(
    ["0.0", "0.1", "0.2"].map((id) => [...advantages.get(id)!]),
    [
      [0, 0, 0.25, 0.25, 0.5, 0.5],
      [-0.5, -0.5, -0.25, -0.25],
      [0, 0],
    ],
    1e-6,
  );
  assert.deepEqual(stats, { groups: 3, deadGroups: 1 / 3 });
});
