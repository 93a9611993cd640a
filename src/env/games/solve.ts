/** Reference play: backward induction where nothing is hidden, else counterfactual regret minimisation. */
import type { GameTree, Strategy } from "./tree.ts";
import { bestResponse, normalised, uniformStrategy } from "./tree.ts";

/** Settings of {@link referencePlay}. */
export interface ReferenceOptions {
  /** Rounds of regret minimisation. Default 1000. */
  readonly rounds?: number;
}

/**
 * How the game is played well. Where every information set is a single situation: optimal play, by backward induction, the first of
 * equal moves. Else the average strategy of CFR+ with linear weights, whose Nash gap in a zero-sum game of two falls to 0 with the
 * rounds; in a general game it need not, so measure it (`nashGap`).
 * Paper: "Solving Large Imperfect Information Games Using CFR+".
 */
export function referencePlay(tree: GameTree, { rounds = 1000 }: ReferenceOptions = {}): Strategy {
  const situations = tree.nodes.filter(({ set }) => set >= 0).length;
  return tree.game.sees === "state" || situations === tree.sets.length
    ? inducted(tree)
    : regretMinimised(tree, rounds);
}

/** Each role moves as is best for it, given what follows. */
function inducted({ nodes, sets, game }: GameTree): Strategy {
  const roles = game.roles.length;
  const values = new Float64Array(nodes.length * roles);
  const out = sets.map(({ legal }) => new Float64Array(legal.length));
  for (let at = nodes.length - 1; at >= 0; at--) {
    const { set, children, payoffs } = nodes[at]!;
    if (set < 0) values.set(payoffs, at * roles);
    else {
      const { role } = sets[set]!;
      const worth = children.map((child) => values[child * roles + role]!);
      const move = worth.indexOf(Math.max(...worth));
      out[set]![move] = 1;
      values.copyWithin(at * roles, children[move]! * roles, (children[move]! + 1) * roles);
    }
  }
  return out;
}

/** CFR+ with alternating updates: regrets below 0 are forgotten, and round t counts t times in the average. */
function regretMinimised(tree: GameTree, rounds: number): Strategy {
  const { nodes, sets, roots, game } = tree;
  const regrets = sets.map(({ legal }) => new Float64Array(legal.length));
  const sums = sets.map(({ legal }) => new Float64Array(legal.length));
  const strategy = uniformStrategy(tree).map((p) => p.slice());
  const [own, others, values] = [0, 1, 2].map(() => new Float64Array(nodes.length)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];

  function walk(role: number): void {
    own.fill(0);
    others.fill(0);
    for (const at of roots) {
      own[at] = 1;
      others[at]! += 1 / roots.length;
    }
    nodes.forEach(({ set, children }, at) => {
      if (set < 0) return;
      const mine = sets[set]!.role === role;
      for (let move = 0; move < children.length; move++) {
        const p = strategy[set]![move]!;
        own[children[move]!] = own[at]! * (mine ? p : 1);
        others[children[move]!]! += others[at]! * (mine ? 1 : p);
      }
    });
    for (let at = nodes.length - 1; at >= 0; at--) {
      const { set, children, payoffs } = nodes[at]!;
      let value = payoffs[role] ?? 0;
      for (let move = 0; move < children.length; move++)
        value += strategy[set]![move]! * values[children[move]!]!;
      values[at] = value;
    }
  }

  for (let round = 1; round <= rounds; round++) {
    for (let role = 0; role < game.roles.length; role++) {
      walk(role);
      const counted = new Set<number>();
      nodes.forEach(({ set, children }, at) => {
        if (set < 0 || sets[set]!.role !== role) return;
        for (let move = 0; move < children.length; move++)
          regrets[set]![move]! += others[at]! * (values[children[move]!]! - values[at]!);
        // every situation of an information set has the same own reach
        if (counted.has(set)) return;
        counted.add(set);
        for (let move = 0; move < children.length; move++)
          sums[set]![move]! += round * own[at]! * strategy[set]![move]!;
      });
      for (const set of counted) {
        regrets[set] = regrets[set]!.map((x) => Math.max(0, x));
        strategy[set] = normalised(regrets[set]!);
      }
    }
  }
  return sums.map(normalised);
}

/** The best response of each role, as a strategy: what a best opponent of this strategy plays. */
export function bestResponses(tree: GameTree, strategy: Strategy): Strategy {
  const moves = tree.game.roles.map((_, role) => bestResponse(tree, strategy, role).moves);
  return tree.sets.map(({ role, legal }, set) =>
    Float64Array.from(legal, (_, move) => (moves[role]![set] === move ? 1 : 0)),
  );
}
