/** Features of a request and a reply: the reply's words, and pairs of a request word and a reply word. */
import type { Trajectory } from "../core/types.ts";
import type { Features } from "./ridge.ts";

/**
 * Binary features: every word of the reply, and every pair of a request word and a reply word, `sleep → routine`. A linear
 * reward can thus value a word after some requests and not after others. Empty without a reply.
 */
export function crossedWords(asked: string, replied: string): Features {
  const [from, to] = [wordsIn(asked), wordsIn(replied)];
  return Object.fromEntries(
    to.flatMap((word) => [word, ...from.map((q) => `${q} → ${word}`)].map((f) => [f, 1])),
  );
}

/** {@link crossedWords} of the last turn: its last prompt message and its reply. Empty without a turn. */
export function lastCrossed({ turns }: Trajectory): Features {
  const turn = turns.at(-1);
  return crossedWords(turn?.prompt.at(-1)?.content ?? "", turn?.action.content ?? "");
}

const wordsIn = (text: string): readonly string[] => [...new Set(text.split(/\s+/).filter((w) => w !== ""))];
