/** A word game for two: one knows a secret word and tries to make the other say it. */
import type { Game } from "./game.ts";

/** The words that fit each topic; every word fits two. */
const topics = {
  fruit: ["apple", "orange"],
  colour: ["orange", "rose"],
  garden: ["rose", "apple"],
} as const;
const words = ["apple", "orange", "rose"] as const;
type Topic = keyof typeof topics;

interface Talk {
  readonly secret: string;
  readonly moves: readonly string[];
}

/** Settings of {@link taboo}. */
export interface TabooOptions {
  /** Topics that the asker names. Default 2. */
  readonly rounds?: number;
}

/**
 * The asker knows a secret word and names a topic; the teller answers with a word that fits the topic, `say rose`, or guesses the
 * secret, `guess rose`. Who says the secret without guessing it loses; a guess wins if it is right and loses if it is not; after the
 * last round nobody has won. Payoffs 1, 0 and −1.
 * After the game of "Self-playing Adversarial Language Game Enhances LLM Reasoning", with three words and fixed topics.
 */
export function taboo({ rounds = 2 }: TabooOptions = {}): Game<Talk> {
  const ending = ({ secret, moves }: Talk): number | undefined => {
    const last = moves.at(-1);
    if (last?.startsWith("guess")) return last === `guess ${secret}` ? -1 : 1;
    if (last === `say ${secret}`) return 1;
    return moves.length === 2 * rounds ? 0 : undefined;
  };
  return {
    name: "taboo",
    summary: "a word game: make the other say a secret word, or guess it first; solved exactly",
    rules:
      "taboo : the asker knows a secret word and names topics . the teller must not say the word , and may guess it",
    roles: ["asker", "teller"],
    sum: "zero",
    sees: "history",
    deals: words.map((secret): Talk => ({ secret, moves: [] })),
    forfeit: 1,
    turns: 2 * rounds,
    moveTokens: 2,
    acting: (talk) => (ending(talk) === undefined ? talk.moves.length % 2 : undefined),
    legal({ moves }) {
      if (moves.length % 2 === 0) return Object.keys(topics);
      const fitting = topics[moves.at(-1) as Topic];
      return [...fitting.map((word) => `say ${word}`), ...words.map((word) => `guess ${word}`)];
    },
    after: (talk, move) => ({ ...talk, moves: [...talk.moves, move] }),
    payoffs(talk) {
      const won = ending(talk) ?? 0;
      return [won, -won];
    },
    told: ({ secret, moves }, role) => [
      ...(role === 0 ? [`the secret word is ${secret}`] : []),
      ...moves.flatMap((move, i) =>
        i % 2 === role ? [] : [role === 0 ? `they ${move}` : `the topic is ${move}`],
      ),
    ],
  };
}
