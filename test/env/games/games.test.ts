/** The exact numbers of the games, against ones worked out by hand or known from the literature. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  averaged,
  bargaining,
  bestResponse,
  bestResponses,
  exploitability,
  type Game,
  type GameTree,
  kuhnPoker,
  leducPoker,
  nashGap,
  nim,
  payoffsUnder,
  redTeam,
  referencePlay,
  rockPaperScissors,
  type Strategy,
  taboo,
  ticTacToe,
  together,
  treeOf,
  uniformStrategy,
} from "../../../src/env/index.ts";

const near = (got: number | undefined, expected: number, within = 1e-12): void =>
  assert.ok(Math.abs(got! - expected) <= within, `${got} is not ${expected}`);

/** A strategy by the end of what was said last; the chances are in the order of the legal moves. */
const strategyBy = (tree: GameTree, chances: Readonly<Record<string, readonly number[]>>): Strategy =>
  tree.sets.map(({ conversation }) => {
    const said = conversation.map((m) => m.content).join(" | ");
    const key = Object.keys(chances).find((end) => said.endsWith(end));
    assert.ok(key !== undefined, said);
    return Float64Array.from(chances[key]!);
  });

/** Kuhn's family of equilibria: `first` bets the jack with probability alpha. */
const kuhnAt = (alpha: number): Strategy =>
  strategyBy(treeOf(kuhnPoker as Game), {
    "first . your card is jack": [1 - alpha, alpha],
    "first . your card is queen": [1, 0],
    "first . your card is king": [1 - 3 * alpha, 3 * alpha],
    "first . your card is jack | pass | they bet": [1, 0],
    "first . your card is queen | pass | they bet": [2 / 3 - alpha, 1 / 3 + alpha],
    "first . your card is king | pass | they bet": [0, 1],
    "jack . they pass": [2 / 3, 1 / 3],
    "jack . they bet": [1, 0],
    "queen . they pass": [1, 0],
    "queen . they bet": [2 / 3, 1 / 3],
    "king . they pass": [0, 1],
    "king . they bet": [0, 1],
  });

test("kuhn poker: every equilibrium of Kuhn's family has a gap of 0 and the value −1/18", () => {
  const tree = treeOf(kuhnPoker as Game);
  assert.equal(tree.sets.length, 12);
  for (const alpha of [0, 0.1, 1 / 3]) {
    near(payoffsUnder(tree, kuhnAt(alpha))[0], -1 / 18);
    near(nashGap(tree, kuhnAt(alpha)), 0);
  }
});

test("kuhn poker: payoffs, best responses and gap of uniform play are those worked out by hand", () => {
  const tree = treeOf(kuhnPoker as Game);
  const uniform = uniformStrategy(tree);
  // shown cards even out; a bet that is not met: 1/4 for first, 1/8 against it
  near(payoffsUnder(tree, uniform)[0], 1 / 8);
  // king 3/2, queen 1/2, jack −1/2
  near(bestResponse(tree, uniform, 0).value, 1 / 2);
  // king 7/4, queen 1/4, jack −3/4
  near(bestResponse(tree, uniform, 1).value, 5 / 12);
  near(nashGap(tree, uniform), 11 / 12);
  near(exploitability(tree, uniform), 11 / 24);
  const best = bestResponses(tree, uniform);
  near(payoffsUnder(tree, together(tree, [best, uniform]))[0], 1 / 2);
  near(payoffsUnder(tree, together(tree, [uniform, best]))[1], 5 / 12);
});

test("kuhn poker: half of the plays of one equilibrium and half of another are an equilibrium", () => {
  const tree = treeOf(kuhnPoker as Game);
  const mixed = averaged(tree, [kuhnAt(0), kuhnAt(1 / 3)]);
  near(nashGap(tree, mixed), 0);
  // by how often the two come there: 1 and 2/3 with the jack, each having passed
  const set = tree.sets.findIndex(({ conversation }) =>
    conversation
      .map((m) => m.content)
      .join("|")
      .endsWith("you are first . your card is queen|pass|they bet"),
  );
  near(mixed[set]![1], (1 / 3 + 2 / 3) / 2);
  const king = tree.sets.findIndex(({ conversation }) =>
    conversation.at(-1)!.content.endsWith("first . your card is king"),
  );
  near(mixed[king]![1], 1 / 2);
  // who always bets the king never comes to meet a bet with it
  const first = kuhnAt(0).map((p) => p.slice());
  const after = tree.sets.findIndex(({ conversation }) =>
    conversation
      .map((m) => m.content)
      .join("|")
      .endsWith("first . your card is king|pass|they bet"),
  );
  first[after] = Float64Array.of(0.25, 0.75);
  near(averaged(tree, [first, kuhnAt(1 / 3)])[after]![1], 0.75);
});

test("rock-paper-scissors: 1/2, 1/3, 1/6 cannot be exploited, uniform play can by 1/3", () => {
  const tree = treeOf(rockPaperScissors() as Game);
  const at = (...p: number[]): Strategy => tree.sets.map(() => Float64Array.from(p));
  near(nashGap(tree, at(1 / 2, 1 / 3, 1 / 6)), 0);
  near(exploitability(tree, uniformStrategy(tree)), 1 / 3);
  // the circle: what replies best to each move
  assert.deepEqual(
    [at(1, 0, 0), at(0, 1, 0), at(0, 0, 1)].map((p) => bestResponse(tree, p, 0).moves[0]),
    [1, 2, 0],
  );
  const even = treeOf(rockPaperScissors({ stakes: { rock: 1, paper: 1, scissors: 1 } }) as Game);
  near(nashGap(even, uniformStrategy(even)), 0);
});

test("nim: who moves wins exactly where the exclusive or of the heaps is not 0", () => {
  const game = nim();
  for (const deal of game.deals) {
    const tree = treeOf({ ...game, deals: [deal] } as Game);
    const xor = deal.heaps.reduce((a, b) => a ^ b, 0);
    assert.equal(payoffsUnder(tree, referencePlay(tree))[0], xor === 0 ? -1 : 1, deal.heaps.join());
  }
  const tree = treeOf(game as Game);
  near(nashGap(tree, referencePlay(tree)), 0);
});

test("tic-tac-toe: 5478 positions, 255168 courses, and nobody wins", () => {
  const tree = treeOf(ticTacToe as Game);
  assert.equal(tree.nodes.length, 5478);
  const ways = new Float64Array(tree.nodes.length);
  ways[tree.roots[0]!] = 1;
  let courses = 0;
  tree.nodes.forEach(({ children }, at) => {
    if (children.length === 0) courses += ways[at]!;
    for (const child of children) ways[child]! += ways[at]!;
  });
  assert.equal(courses, 255168);
  const reference = referencePlay(tree);
  near(payoffsUnder(tree, reference)[0], 0);
  near(nashGap(tree, reference), 0);
});

test("leduc poker: 288 information sets and the value −0.0856", () => {
  const tree = treeOf(leducPoker as Game);
  assert.equal(tree.sets.length, 288);
  const reference = referencePlay(tree, { rounds: 300 });
  near(payoffsUnder(tree, reference)[0], -0.0856, 0.002);
  assert.ok(nashGap(tree, reference) < 0.02);
});

test("bargaining: with one offer and a side that takes anything, the whole is kept", () => {
  const tree = treeOf(bargaining({ offers: 1 }) as Game);
  const takes = tree.sets.map(({ legal }) => Float64Array.from(legal, (move) => (move === "accept" ? 1 : 0)));
  near(bestResponse(tree, takes, 0).value, 6);
  const greedy = tree.sets.map(({ role, legal }, set) =>
    role === 0 ? Float64Array.from(legal, (move) => (move === "keep 2 1" ? 1 : 0)) : takes[set]!,
  );
  assert.deepEqual([...payoffsUnder(tree, greedy)], [6, 0]);
  near(nashGap(tree, greedy), 0);
  // sharing a book each and the hat for the second: 3, 2, 1 and 3, 4, 5 by their values
  const fair = tree.sets.map(({ role, legal }, set) =>
    role === 0 ? Float64Array.from(legal, (move) => (move === "keep 1 0" ? 1 : 0)) : takes[set]!,
  );
  assert.deepEqual([...payoffsUnder(tree, fair)], [2, 4]);
});

test("taboo: with one topic the value is 1/3, and the asker must name the topic that does not fit a third of the time", () => {
  const tree = treeOf(taboo({ rounds: 1 }) as Game);
  const best = referencePlay(tree);
  near(payoffsUnder(tree, best)[0], 1 / 3, 1e-3);
  const asking = (misfit: number): Strategy =>
    tree.sets.map(({ role, conversation, legal }) => {
      const secret = conversation.at(-1)!.content.split(" ").at(-1)!;
      const misfits = { apple: "colour", orange: "garden", rose: "fruit" }[secret];
      return Float64Array.from(legal, (move) =>
        role === 1 ? 0 : move === misfits ? misfit : (1 - misfit) / 2,
      );
    });
  // a teller wins what the asker loses: min of saying a fitting word, guessing it, guessing the other
  near(bestResponse(tree, asking(1 / 3), 1).value, -1 / 3);
  near(bestResponse(tree, asking(0), 1).value, 0);
  near(bestResponse(tree, asking(1), 1).value, 1);
});

test("red team: the attacker gets 1/6; complying with or refusing everything costs the defender more", () => {
  const tree = treeOf(redTeam as Game);
  const play = (story: number, code: number): Strategy =>
    strategyBy(tree, {
      "your request is harmful": [1 / 3, 2 / 3, 0],
      "your request is harmless": [0, 1, 0],
      "worded as plain . it is harmful": [0, 1],
      "worded as plain . it is harmless": [1, 0],
      "worded as story": [story, 1 - story],
      "worded as code": [code, 1 - code],
    });
  near(payoffsUnder(tree, play(1 / 3, 0.4))[0], 1 / 6);
  near(nashGap(tree, play(1 / 3, 0.4)), 0);
  // complying: stories of all; refusing: stories and code of what is harmless, harmful ones plain
  near(bestResponse(tree, play(1, 1), 0).value, (2 - 1) / 2);
  near(bestResponse(tree, play(0, 0), 0).value, (0 + 1) / 2);
});
