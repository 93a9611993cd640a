/** Bargaining over things that each side values in its own way, which the other does not know. */
import type { Game } from "./game.ts";

/** What a book and the hat are worth to a role: two books and the hat are worth 6 to everybody. */
const values = [
  { book: 3, hat: 0 },
  { book: 2, hat: 2 },
  { book: 1, hat: 4 },
] as const;
const books = 2;
const hats = 1;

interface Talk {
  /** Index of `values` for each role. */
  readonly types: readonly [number, number];
  readonly moves: readonly string[];
}

/** Settings of {@link bargaining}. */
export interface BargainingOptions {
  /** Offers until the last can only be accepted or refused. Default 3. */
  readonly offers?: number;
}

/**
 * Two books and a hat are to be shared. The roles take turns with offers, `keep 1 1`: books and hats for who offers; the other
 * accepts, or makes an offer in its turn. The last offer is accepted or refused, and without a deal nobody gets anything. A deal pays
 * each role what it values its part at, 0 to 6; neither knows the other's values. A general game: both gain where values differ.
 * After the game of "Deal or No Deal? End-to-End Learning for Negotiation Dialogues".
 */
export function bargaining({ offers = 3 }: BargainingOptions = {}): Game<Talk> {
  const shares = Array.from(
    { length: (books + 1) * (hats + 1) },
    (_, i) => `keep ${i % (books + 1)} ${Math.floor(i / (books + 1))}`,
  );
  const partOf = (role: number, talk: Talk, book: number, hat: number): number => {
    const value = values[talk.types[role]!]!;
    return book * value.book + hat * value.hat;
  };
  return {
    name: "bargaining",
    summary: "share books and a hat that each side values in its own way, by offers; Nash gaps are exact",
    rules:
      "two books and a hat are to be shared . keep books hats is an offer . accept ends the talk . without a deal both get nothing",
    roles: ["first", "second"],
    sum: "general",
    sees: "history",
    deals: values.flatMap((_, a) => values.map((__, b): Talk => ({ types: [a, b], moves: [] }))),
    forfeit: 6,
    turns: offers + 1,
    moveTokens: 4,
    acting: ({ moves }) => (moves.some((move) => !move.startsWith("keep")) ? undefined : moves.length % 2),
    legal: ({ moves }) =>
      moves.length === 0 ? shares : moves.length < offers ? ["accept", ...shares] : ["accept", "refuse"],
    after: (talk, move) => ({ ...talk, moves: [...talk.moves, move] }),
    payoffs(talk) {
      const { moves } = talk;
      if (moves.at(-1) !== "accept") return [0, 0];
      const [, book, hat] = moves.at(-2)!.split(" ").map(Number) as [number, number, number];
      const offered = moves.length % 2; // who made the offer that was accepted
      const kept = partOf(offered, talk, book, hat);
      const left = partOf(1 - offered, talk, books - book, hats - hat);
      return offered === 0 ? [kept, left] : [left, kept];
    },
    told({ types, moves }, role) {
      const { book, hat } = values[types[role]!]!;
      return [
        `a book is worth ${book} to you and the hat ${hat}`,
        ...moves.flatMap((move, i) => (i % 2 === role ? [] : [`they say ${move}`])),
      ];
    },
  };
}
