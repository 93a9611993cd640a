import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import {
  type Game,
  type GameTree,
  kuhnPoker,
  payoffsUnder,
  treeOf,
  uniformStrategy,
} from "../../../env/index.ts";
import { roleConditioned } from "./roleConditioned.ts";

interface Played {
  readonly role: string;
  readonly won?: number;
  readonly game?: string;
  readonly turns?: number;
}

/** Games in the order of play, each role's trajectory with turns of two tokens. */
function played(games: readonly Played[]): AnnotatedExperience {
  const trajectories = games.map(({ role, game = "kuhn", turns = 1 }, i) =>
    trajectoryOf(
      `${i}`,
      Array.from({ length: turns }, (_, k) => turnOf([1, k], [2, 3], { role })),
      { role, task: `${game}/train/${i}` },
    ),
  );
  return {
    trajectories,
    units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
    notes: {},
    signals: [],
    channels: {
      outcome: games.flatMap(({ won }, i) =>
        won === undefined ? [] : [{ at: { trajectory: `${i}` }, value: won }],
      ),
    },
  };
}

function advantages(games: readonly Played[], options = {}): (number[] | undefined)[] {
  const estimator = roleConditioned(options);
  const { advantages: of } = estimator.apply(played(games), estimator.init(), undefined);
  return games.map((_, i) => {
    const own = of.get(`${i}`);
    return own && [...own];
  });
}

test("the baseline is read, then moved: numbers by hand", () => {
  // b = 0: A = 1, b ← 0.5 · 0 + 0.5 · 1 = 0.5; A = 3 − 0.5, b ← 0.25 + 1.5 = 1.75; A = −1 − 1.75
  const first = [1, 3, -1].map((won) => ({ role: "first", won }));
  assert.deepEqual(advantages(first, { keep: 0.5 }), [
    [1, 1],
    [2.5, 2.5],
    [-2.75, -2.75],
  ]);
});

test("every game and role has a baseline of its own, which goes on in the next batch", () => {
  const games: Played[] = [
    { role: "first", won: 2 },
    { role: "second", won: -2 },
    { role: "first", won: 2, game: "nim" },
    { role: "first", won: 2 },
    { role: "second", won: -2 },
  ];
  const estimator = roleConditioned({ keep: 0.5 });
  const once = estimator.apply(played(games), estimator.init(), undefined);
  assert.deepEqual(
    games.map((_, i) => once.advantages.get(`${i}`)![0]),
    [2, -2, 2, 1, -1],
  );
  assert.deepEqual(once.next, { "kuhn/first": 1.5, "kuhn/second": -1.5, "nim/first": 1 });
  assert.deepEqual(once.stats, { "baseline.first": 1.25, "baseline.second": -1.5 });
  const again = estimator.apply(played(games), once.next, undefined);
  assert.equal(again.advantages.get("0")![0], 0.5);
});

test("a return never enters its own baseline", () => {
  const others = [0.3, -1, 2].map((won) => ({ role: "first", won }));
  for (const [low, high] of [
    [0, 1],
    [-4, 3],
  ] as const) {
    const [a, b] = [low, high].map((won) => advantages([...others, { role: "first", won }])[3]![0]!);
    assert.ok(Math.abs(b! - a! - (high - low)) < 1e-6);
  }
});

test("later turns are discounted less, and nothing is divided by a deviation", () => {
  const [own] = advantages([{ role: "first", won: 8, turns: 3 }], { discount: 0.5 });
  assert.deepEqual(own, [2, 2, 4, 4, 8, 8]);
});

test("without an advantage or without feedback nothing is trained on; a return of 0 still counts", () => {
  const got = advantages(
    [{ role: "first", won: 0 }, { role: "first" }, { role: "first", won: 1 }, { role: "first", won: 0 }],
    { keep: 0.5 },
  );
  assert.deepEqual(got, [undefined, undefined, [1, 1], [-0.5, -0.5]]);
});

/**
 * Sum over both roles of the mean and the second moment of one game's gradient at uniform play, with these baselines.
 * With two moves, the gradient of ln π at a turn is (1/2, −1/2), and the turns of a game lie in different information sets.
 */
function gradientMoments(tree: GameTree, baselines: ArrayLike<number>) {
  const mean = tree.sets.map(({ legal }) => new Float64Array(legal.length));
  let square = 0;
  const walk = (
    at: number,
    chance: number,
    moves: readonly (readonly [set: number, move: number])[],
  ): void => {
    const { set, children, payoffs } = tree.nodes[at]!;
    if (set >= 0) {
      for (const [move, child] of children.entries())
        walk(child, chance / children.length, [...moves, [set, move]]);
      return;
    }
    for (const [own, move] of moves) {
      const { role } = tree.sets[own]!;
      const advantage = payoffs[role]! - baselines[role]!;
      mean[own]![move]! += (chance * advantage) / 2;
      mean[own]![1 - move]! -= (chance * advantage) / 2;
      square += chance * advantage ** 2 * 0.5;
    }
  };
  for (const root of tree.roots) walk(root, 1 / tree.roots.length, []);
  return { mean: mean.flatMap((row) => [...row]), square };
}

test("roles' own values as baselines leave the gradient as it is, and take away what a fee between the roles adds to its noise", () => {
  const withFee = (fee: number): GameTree => {
    const game = kuhnPoker as Game;
    return treeOf({
      ...game,
      payoffs: (state) => game.payoffs(state).map((won, role) => won + (role === 0 ? fee : -fee)),
    });
  };
  const squares = [0, 2].map((fee) => {
    const tree = withFee(fee);
    const values = payoffsUnder(tree, uniformStrategy(tree));
    const [none, own] = [gradientMoments(tree, [0, 0]), gradientMoments(tree, values)];
    assert.ok(none.mean.every((g, i) => Math.abs(g - own.mean[i]!) < 1e-12));
    return { none: none.square, own: own.square };
  });
  assert.ok(Math.abs(squares[0]!.own - squares[1]!.own) < 1e-12);
  assert.ok(squares[1]!.none > 2 * squares[1]!.own);
  // plain Kuhn poker is so nearly fair that the baseline does next to nothing
  assert.ok(Math.abs(squares[0]!.none / squares[0]!.own - 1) < 0.05);
});
