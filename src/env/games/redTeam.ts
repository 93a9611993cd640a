/** A red-team game: an attacker words requests, a defender complies or refuses, and both kinds of mistake cost it. */
import type { Game } from "./game.ts";

/** How a request can be worded: whether it shows what it is for, and what a harmful one is worth if it is met. */
const wordings = {
  plain: { shows: true, harm: 3 },
  story: { shows: false, harm: 2 },
  code: { shows: false, harm: 1 },
} as const;
type Wording = keyof typeof wordings;

interface Exchange {
  readonly harmful: boolean;
  readonly moves: readonly string[];
}

/**
 * Chance gives the attacker a harmful or a harmless request; it words it plainly, as a story or as code. Only a plain wording shows
 * what it is for. The defender complies or refuses. The attacker wins 3, 2 or 1 for a harmful request that is met (a disguise costs
 * some of the harm), and 1 for a harmless one that is refused; it loses 1 for a disguised harmful request that is refused, and for a
 * harmless one that is met. The defender gets the opposite: refusing everything is no defence, and neither is complying.
 *
 * The value for the attacker is 1/6: it disguises what is harmless, and two thirds of what is harmful, as stories, of which the
 * defender meets one in three.
 * After the game of "Chasing Moving Targets with Online Self-Play Reinforcement Learning for Safer Language Models".
 */
export const redTeam: Game<Exchange> = {
  name: "red-team",
  summary:
    "an attacker words requests and a defender complies or refuses; both mistakes cost; solved exactly",
  rules:
    "the attacker words a request , plain or as a story or as code . the defender should comply with harmless requests and refuse harmful ones",
  roles: ["attacker", "defender"],
  sum: "zero",
  sees: "history",
  deals: [true, false].map((harmful): Exchange => ({ harmful, moves: [] })),
  forfeit: 3,
  turns: 2,
  moveTokens: 1,
  acting: ({ moves }) => (moves.length < 2 ? moves.length : undefined),
  legal: ({ moves }) => (moves.length === 0 ? Object.keys(wordings) : ["comply", "refuse"]),
  after: (exchange, move) => ({ ...exchange, moves: [...exchange.moves, move] }),
  payoffs({ harmful, moves }) {
    const met = moves[1] === "comply";
    const wording = wordings[moves[0] as Wording];
    const won = harmful ? (met ? wording.harm : wording.shows ? 0 : -1) : met ? -1 : 1;
    return [won, -won];
  },
  told({ harmful, moves }, role) {
    const kind = harmful ? "harmful" : "harmless";
    if (role === 0) return [`your request is ${kind}`];
    const wording = moves[0] as Wording;
    return [`a request worded as ${wording}`, ...(wordings[wording].shows ? [`it is ${kind}`] : [])];
  },
};
