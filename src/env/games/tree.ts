/** The whole of a game as a tree, and exact answers about how it is played: payoffs, best responses, Nash gaps. */
import { WhetstoneError } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { type Game, newsFor, opening } from "./game.ts";

/** Situations that a role cannot tell apart: it has read and done the same in all of them. */
export interface InformationSet {
  /** Index of the role that acts. */
  readonly role: number;
  /** The conversation before the move, from the rules on. */
  readonly conversation: readonly Message[];
  readonly legal: readonly string[];
}

interface GameNode {
  readonly depth: number;
  /** Index of the information set; -1 at an end. */
  readonly set: number;
  /** One for each legal move; later in the list of nodes than this one. */
  readonly children: readonly number[];
  /** Of an end. */
  readonly payoffs: readonly number[];
}

/** Every course of a game. */
export interface GameTree {
  readonly game: Game;
  readonly sets: readonly InformationSet[];
  /** From the beginnings on, in the order of their depth. */
  readonly nodes: readonly GameNode[];
  /** The nodes at which the game begins; equally likely. */
  readonly roots: readonly number[];
  /** The information set with this conversation. */
  find(conversation: readonly Message[]): number | undefined;
}

/** How every role plays: for each information set the probability of each legal move. */
export type Strategy = readonly Float64Array[];

const keyOf = (conversation: readonly Message[]): string =>
  conversation.map(({ role, content }) => `${role}\t${content}`).join("\n");

interface Place {
  readonly state: unknown;
  readonly depth: number;
  /** By role: its conversation, and how many lines it knows. */
  readonly said: readonly (readonly Message[])[];
  readonly known: readonly number[];
}

/**
 * Lists every course of the game, deal by deal. With `sees: "state"`, equal states of equal depth are one node.
 * @throws WhetstoneError `config.invalid` where a role cannot tell situations apart in which it has other moves, another role acts,
 *   or another number of moves was made.
 */
export function treeOf(game: Game): GameTree {
  const nodes: GameNode[] = [];
  const places: Place[] = [];
  const index = new Map<string, number>();
  const sets: InformationSet[] = [];
  const depths: number[] = [];
  const byKey = new Map<string, number>();

  function placed(place: Place): number {
    const key = game.sees === "state" ? `${place.depth} ${JSON.stringify(place.state)}` : undefined;
    const known = key === undefined ? undefined : index.get(key);
    if (known !== undefined) return known;
    if (key !== undefined) index.set(key, places.length);
    return places.push(place) - 1;
  }

  function setOf(role: number, conversation: readonly Message[], { state, depth }: Place): number {
    const key = keyOf(conversation);
    const legal = game.legal(state);
    const known = byKey.get(key);
    if (known === undefined) {
      byKey.set(key, sets.length);
      depths.push(depth);
      return sets.push({ role, conversation, legal }) - 1;
    }
    const { role: other, legal: moves } = sets[known]!;
    const apart = game.sees === "history" && depths[known] !== depth;
    if (other !== role || apart || moves.join("\n") !== legal.join("\n")) throw unlike(game, conversation);
    return known;
  }

  const nobody = game.roles.map(() => 0);
  const roots = game.deals.map((state) =>
    placed({ state, depth: 0, said: game.roles.map(() => opening(game)), known: nobody }),
  );
  for (let at = 0; at < places.length; at++) {
    const place = places[at]!;
    const { state, depth, said, known } = place;
    const role = game.acting(state);
    if (role === undefined) {
      nodes.push({ depth, set: -1, children: [], payoffs: game.payoffs(state) });
      continue;
    }
    const { messages, lines } = newsFor(game, state, role, known[role]!);
    const conversation = game.sees === "state" ? messages : [...said[role]!, ...messages];
    const set = setOf(role, conversation, place);
    const children = game.legal(state).map((move) =>
      placed({
        state: game.after(state, move),
        depth: depth + 1,
        said: said.with(role, [...conversation, { role: "assistant", content: move }]),
        known: known.with(role, lines),
      }),
    );
    nodes.push({ depth, set, children, payoffs: [] });
  }
  return { game, sets, nodes, roots, find: (conversation) => byKey.get(keyOf(conversation)) };
}

const unlike = (game: Game, conversation: readonly Message[]): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: `game "${game.name}": told()`,
    got: `the same conversation in different situations, ending with "${conversation.at(-1)?.content ?? ""}"`,
    expected: "equal roles, moves and numbers of moves wherever a role is told the same",
    fix: "Tell the roles what distinguishes the situations.",
  });

/** Every legal move alike. */
export const uniformStrategy = ({ sets }: GameTree): Strategy =>
  sets.map(({ legal }) => new Float64Array(legal.length).fill(1 / legal.length));

/** Expected payoff of each role where all play this strategy, [roles]. */
export function payoffsUnder(tree: GameTree, strategy: Strategy): Float64Array {
  const roles = tree.game.roles.length;
  const values = new Float64Array(tree.nodes.length * roles);
  for (let at = tree.nodes.length - 1; at >= 0; at--) {
    const { set, children, payoffs } = tree.nodes[at]!;
    for (let role = 0; role < roles; role++) {
      let value = payoffs[role] ?? 0;
      for (let move = 0; move < children.length; move++)
        value += strategy[set]![move]! * values[children[move]! * roles + role]!;
      values[at * roles + role] = value;
    }
  }
  return Float64Array.from(
    tree.game.roles,
    (_, role) => tree.roots.reduce((sum, at) => sum + values[at * roles + role]!, 0) / tree.roots.length,
  );
}

/** Plays each role by a strategy of its own. */
export const together = ({ sets }: GameTree, byRole: readonly Strategy[]): Strategy =>
  sets.map(({ role }, set) => byRole[role]![set]!);

/** Probability of coming to each node where `role` does all it can to come there and the others play the strategy. */
function reachedBeside({ nodes, roots, sets }: GameTree, strategy: Strategy, role: number): Float64Array {
  const reach = new Float64Array(nodes.length);
  for (const at of roots) reach[at]! += 1 / roots.length;
  nodes.forEach(({ set, children }, at) => {
    for (let move = 0; move < children.length; move++)
      reach[children[move]!]! += reach[at]! * (sets[set]!.role === role ? 1 : strategy[set]![move]!);
  });
  return reach;
}

/** A best response: its expected payoff, and the move at each information set of the role (-1 at those of the others). */
export interface BestResponse {
  readonly value: number;
  readonly moves: Int32Array;
}

/**
 * The best response of a role to how the others play: at each of its information sets the move that pays most on average over the
 * situations it may be in, weighed by how likely chance and the others make them. The first of equals.
 */
export function bestResponse(tree: GameTree, strategy: Strategy, role: number): BestResponse {
  const { nodes, roots, sets, game } = tree;
  const reach = reachedBeside(tree, strategy, role);
  const values = new Float64Array(nodes.length);
  const moves = new Int32Array(sets.length).fill(-1);
  // all situations of an information set have one depth, so that a whole layer is decided before it is valued
  for (let to = nodes.length; to > 0; ) {
    const { depth } = nodes[to - 1]!;
    let from = to;
    while (from > 0 && nodes[from - 1]!.depth === depth) from--;
    const worth = new Map<number, Float64Array>();
    for (let at = from; at < to; at++) {
      const { set, children } = nodes[at]!;
      if (set < 0 || sets[set]!.role !== role) continue;
      const sums = worth.get(set) ?? new Float64Array(children.length);
      worth.set(set, sums);
      children.forEach((child, move) => {
        sums[move]! += (game.sees === "state" ? 1 : reach[at]!) * values[child]!;
      });
    }
    for (const [set, sums] of worth) moves[set] = sums.indexOf(Math.max(...sums));
    for (let at = from; at < to; at++) {
      const { set, children, payoffs } = nodes[at]!;
      if (set < 0) values[at] = payoffs[role]!;
      else if (sets[set]!.role === role) values[at] = values[children[moves[set]!]!]!;
      else
        values[at] = children.reduce((sum, child, move) => sum + strategy[set]![move]! * values[child]!, 0);
    }
    to = from;
  }
  return { value: roots.reduce((sum, at) => sum + values[at]!, 0) / roots.length, moves };
}

/**
 * How much the roles could gain in all by deviating alone: Σ over roles of (value of its best response − its payoff), ≥ 0; 0 exactly
 * at a Nash equilibrium.
 */
export function nashGap(tree: GameTree, strategy: Strategy): number {
  const paid = payoffsUnder(tree, strategy);
  return paid.reduce((sum, value, role) => sum + bestResponse(tree, strategy, role).value - value, 0);
}

/**
 * The mean over roles of what deviating alone would gain: `nashGap` / roles. In a zero-sum game of two it is what a best opponent
 * wins per game beyond the value, over both seats.
 */
export const exploitability = (tree: GameTree, strategy: Strategy): number =>
  nashGap(tree, strategy) / tree.game.roles.length;

/** Probability that each information set is not avoided by its own role, [sets]: the product of its own earlier moves. */
export function ownReach({ nodes, roots, sets, game }: GameTree, strategy: Strategy): Float64Array {
  const roles = game.roles.length;
  const reach = new Float64Array(nodes.length * roles);
  const out = new Float64Array(sets.length);
  for (const at of roots) reach.fill(1, at * roles, (at + 1) * roles);
  nodes.forEach(({ set, children }, at) => {
    if (set < 0) return;
    const acting = sets[set]!.role;
    out[set] = Math.max(out[set]!, reach[at * roles + acting]!);
    for (let move = 0; move < children.length; move++) {
      for (let role = 0; role < roles; role++) {
        const here = reach[at * roles + role]! * (role === acting ? strategy[set]![move]! : 1);
        const there = children[move]! * roles + role;
        reach[there] = Math.max(reach[there]!, here);
      }
    }
  });
  return out;
}

/**
 * The strategy that plays like one of these, drawn before the game with these weights: moves are weighed by how often each strategy
 * comes to the information set by its own moves. Exact in games of perfect recall (`sees: "history"`).
 * @param weights ≥ 0, not all 0. Default: all alike.
 */
export function averaged(
  tree: GameTree,
  strategies: readonly Strategy[],
  weights?: readonly number[],
): Strategy {
  const sums = tree.sets.map(({ legal }) => new Float64Array(legal.length));
  strategies.forEach((strategy, s) => {
    const reach = ownReach(tree, strategy);
    sums.forEach((sum, set) => {
      for (let move = 0; move < sum.length; move++)
        sum[move]! += (weights?.[s] ?? 1) * reach[set]! * strategy[set]![move]!;
    });
  });
  return sums.map(normalised);
}

/** Where nothing is known, all alike. */
export function normalised(xs: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const sum = xs.reduce((a, b) => a + b, 0);
  return sum > 0 ? xs.map((x) => x / sum) : xs.map(() => 1 / xs.length);
}
