/** Kuhn poker: the smallest poker in which bluffing pays. */
import type { Game } from "./game.ts";

const cards = ["jack", "queen", "king"] as const;

interface Hand {
  /** Rank of each role's card, 0…2. */
  readonly cards: readonly [number, number];
  readonly moves: readonly ("pass" | "bet")[];
}

const ends = ["pass pass", "bet pass", "bet bet", "pass bet pass", "pass bet bet"];

/**
 * Each role pays a chip and gets one of three cards. `first` passes or bets a chip; a bet is met by a bet, or the pot is left to the
 * other; the higher card wins. Payoffs are the chips won: −2 to 2. The value for `first` is −1/18, and in every equilibrium it bluffs
 * with the jack at some rate α ≤ 1/3 and bets the king at 3α.
 * Paper: "A Simplified Two-Person Poker" (Kuhn, 1950).
 */
export const kuhnPoker: Game<Hand> = {
  name: "kuhn-poker",
  summary: "poker with three cards for two, in text: pass or bet; solved exactly",
  rules: "kuhn poker : jack below queen below king . one chip each is in the pot . pass or bet one chip",
  roles: ["first", "second"],
  sum: "zero",
  sees: "history",
  deals: [0, 1, 2].flatMap((a) =>
    [0, 1, 2].flatMap((b): Hand[] => (a === b ? [] : [{ cards: [a, b], moves: [] }])),
  ),
  forfeit: 2,
  turns: 3,
  moveTokens: 1,
  acting: ({ moves }) => (ends.includes(moves.join(" ")) ? undefined : moves.length % 2),
  legal: () => ["pass", "bet"],
  after: (hand, move) => ({ ...hand, moves: [...hand.moves, move === "bet" ? "bet" : "pass"] }),
  payoffs({ cards: [a, b], moves }) {
    const bets = moves.filter((move) => move === "bet").length;
    // one bet alone: who did not meet it has lost a chip, whatever the cards
    const won =
      bets === 1 ? (moves.indexOf("bet") % 2 === 0 ? 1 : -1) : (a > b ? 1 : -1) * (bets === 2 ? 2 : 1);
    return [won, -won];
  },
  told: ({ cards: dealt, moves }, role) => [
    `your card is ${cards[dealt[role]!]!}`,
    ...moves.flatMap((move, i) => (i % 2 === role ? [] : [`they ${move}`])),
  ],
};
