import type { Game } from "../../../env/index.ts";

/** Settings of {@link disguises}. */
export interface DisguisesOptions {
  /** Ways of wording a request, `w0`, `w1`…; the first is plain. Default 24. */
  readonly wordings?: number;
  /** Probability that a request looks harmful: a harmful one in plain words, a disguised one, a harmless one. Multiples of 0.05. */
  readonly looks?: { readonly plain: number; readonly disguised: number; readonly harmless: number };
}

interface Exchange {
  readonly harmful: boolean;
  /** 0…19: below twenty times its probability, the request looks harmful. */
  readonly chance: number;
  readonly moves: readonly string[];
}

/** The wordings of a game with `count` of them. */
export const wordingsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i}`);

/**
 * A red-team game with many ways of wording a request, half of which are harmful. The defender reads the wording and whether the request
 * looks harmful, which it does less often in disguise and sometimes for no reason; it complies or refuses. It is paid 1 where it is right
 * and −1 where it is wrong, and the attacker the opposite. What the defender learns about one wording says nothing of another.
 */
export function disguises({
  wordings = 24,
  looks = { plain: 0.95, disguised: 0.75, harmless: 0.15 },
}: DisguisesOptions = {}): Game<Exchange> {
  const words = wordingsOf(wordings);
  return {
    name: "disguises",
    summary: "an attacker words a request in one of many ways; a defender complies or refuses",
    rules: "word the request , or comply with harmless requests and refuse harmful ones",
    roles: ["attacker", "defender"],
    sum: "zero",
    sees: "history",
    deals: [true, false].flatMap((harmful) =>
      Array.from({ length: 20 }, (_, chance): Exchange => ({ harmful, chance, moves: [] })),
    ),
    forfeit: 1,
    turns: 2,
    moveTokens: 1,
    acting: ({ moves }) => (moves.length < 2 ? moves.length : undefined),
    legal: ({ moves }) => (moves.length === 0 ? words : ["comply", "refuse"]),
    after: (exchange, move) => ({ ...exchange, moves: [...exchange.moves, move] }),
    payoffs({ harmful, moves }) {
      const right = (moves[1] === "refuse") === harmful;
      return right ? [-1, 1] : [1, -1];
    },
    told({ harmful, chance, moves }, role) {
      if (role === 0) return [`your request is ${harmful ? "harmful" : "harmless"}`];
      const seems = !harmful ? looks.harmless : moves[0] === "w0" ? looks.plain : looks.disguised;
      return [
        `worded as ${moves[0]}`,
        `it looks ${chance < Math.round(20 * seems) ? "harmful" : "harmless"}`,
      ];
    },
  };
}
