/** Rock, paper, scissors with unequal stakes: every reply is beaten by another, and the equilibrium is not uniform. */
import type { Game } from "./game.ts";

const moves = ["rock", "paper", "scissors"] as const;

interface Throws {
  readonly made: readonly string[];
}

/** Settings of {@link rockPaperScissors}. */
export interface RockPaperScissorsOptions {
  /** What winning with each move pays, > 0. Default rock 2, paper 1, scissors 3. */
  readonly stakes?: Readonly<Record<(typeof moves)[number], number>>;
}

/**
 * Both move without seeing the other's move; who wins gets the stake of its move from the other. In equilibrium every move earns
 * nothing, which makes the probabilities
 *
 *     p(rock) : p(paper) : p(scissors) = stake(scissors) : stake(rock) : stake(paper)        1/2, 1/3, 1/6 by default
 *
 * The value is 0. Best responses run in a circle, so that learning against one's latest self never settles.
 */
export function rockPaperScissors({
  stakes = { rock: 2, paper: 1, scissors: 3 },
}: RockPaperScissorsOptions = {}): Game<Throws> {
  const stakeOf = (move: string): number => stakes[move as keyof typeof stakes];
  return {
    name: "rock-paper-scissors",
    summary: "rock, paper, scissors with unequal stakes: best responses run in a circle; solved exactly",
    rules: `rock wins ${stakes.rock} from scissors . paper wins ${stakes.paper} from rock . scissors wins ${stakes.scissors} from paper`,
    roles: ["first", "second"],
    sum: "zero",
    sees: "history",
    deals: [{ made: [] }],
    forfeit: Math.max(...Object.values(stakes)),
    turns: 2,
    moveTokens: 1,
    acting: ({ made }) => (made.length < 2 ? made.length : undefined),
    legal: () => moves,
    after: ({ made }, move) => ({ made: [...made, move] }),
    payoffs({ made }) {
      const [a, b] = made.map((move) => moves.indexOf(move as (typeof moves)[number])) as [number, number];
      const ahead = (a - b + moves.length) % moves.length;
      const won = ahead === 0 ? 0 : ahead === 1 ? stakeOf(moves[a]!) : -stakeOf(moves[b]!);
      return [won, -won];
    },
    told: () => ["choose"],
  };
}
