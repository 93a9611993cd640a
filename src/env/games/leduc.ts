/** Leduc hold'em: poker with six cards, two rounds and a card for all. */
import type { Game } from "./game.ts";

const ranks = ["jack", "queen", "king"] as const;

interface Hand {
  /** Ranks 0…2: of each role's card, and of the card that both see in the second round. */
  readonly cards: readonly [number, number];
  readonly shared: number;
  /** The moves of each round. */
  readonly rounds: readonly (readonly string[])[];
}

const stake = [2, 4];
const mostRaises = 2;

/** Whether a round's betting is over. */
const over = (moves: readonly string[]): boolean => {
  const last = moves.at(-1);
  return last === "fold" || (last === "call" && moves.length > 1);
};
const raises = (moves: readonly string[]): number => moves.filter((move) => move === "raise").length;

/** Chips of each role in the pot. */
function paidIn({ rounds }: Hand): [number, number] {
  const paid: [number, number] = [1, 1];
  rounds.forEach((moves, round) => {
    moves.forEach((move, i) => {
      const role = i % 2;
      if (move === "call") paid[role] = paid[1 - role]!;
      if (move === "raise") paid[role] = paid[1 - role]! + stake[round]!;
    });
  });
  return paid;
}

/**
 * Two suits of jack, queen and king; one chip each in the pot; a private card; a round of betting with raises of 2, then a card for
 * both to see, and a round with raises of 4; at most two raises a round. A pair with the shared card wins, else the higher card;
 * equal cards share the pot. Payoffs are chips won, −13 to 13. The value for `first` is about −0.0856.
 * Paper: "Bayes' Bluff: Opponent Modelling in Poker" (Southey et al., 2005).
 */
export const leducPoker: Game<Hand> = {
  name: "leduc-poker",
  summary: "poker with six cards, two rounds of bets and a shared card, for two, in text; solved exactly",
  rules:
    "leduc poker : two each of jack queen king . fold call or raise . a pair with the shared card wins , else the higher card",
  roles: ["first", "second"],
  sum: "zero",
  sees: "history",
  // cards 0…5, two of each rank
  deals: Array.from(
    { length: 6 * 6 * 6 },
    (_, i) => [Math.floor(i / 36), Math.floor(i / 6) % 6, i % 6] as const,
  )
    .filter(([a, b, c]) => a !== b && a !== c && b !== c)
    .map((cards): Hand => {
      const [a, b, c] = cards.map((card) => Math.floor(card / 2)) as [number, number, number];
      return { cards: [a, b], shared: c, rounds: [[]] };
    }),
  forfeit: 13,
  turns: 8,
  moveTokens: 1,
  acting({ rounds }) {
    const moves = rounds.at(-1)!;
    if (moves.at(-1) === "fold" || (over(moves) && rounds.length === 2)) return undefined;
    return moves.length % 2;
  },
  legal({ rounds }) {
    const moves = rounds.at(-1)!;
    const raised = raises(moves);
    return [...(raised > 0 ? ["fold"] : []), "call", ...(raised < mostRaises ? ["raise"] : [])];
  },
  after(hand, move) {
    const moves = [...hand.rounds.at(-1)!, move];
    const rounds = [...hand.rounds.slice(0, -1), moves];
    const next = over(moves) && move !== "fold" && rounds.length === 1;
    return { ...hand, rounds: next ? [...rounds, []] : rounds };
  },
  payoffs(hand) {
    const { cards, shared, rounds } = hand;
    const paid = paidIn(hand);
    const moves = rounds.at(-1)!;
    if (moves.at(-1) === "fold") {
      const folded = (moves.length - 1) % 2;
      return folded === 0 ? [-paid[0], paid[0]] : [paid[1], -paid[1]];
    }
    const [a, b] = cards.map((card) => (card === shared ? 10 : card)) as [number, number];
    const won = a === b ? 0 : a > b ? paid[1] : -paid[0];
    return [won, -won];
  },
  told: ({ cards, shared, rounds }, role) => [
    `your card is ${ranks[cards[role]!]!}`,
    ...rounds.flatMap((moves, round) => [
      ...(round === 1 ? [`the shared card is ${ranks[shared]!}`] : []),
      ...moves.flatMap((move, i) => (i % 2 === role ? [] : [`they ${move}`])),
    ]),
  ],
};
