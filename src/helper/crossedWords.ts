/** A request and a reply as features: what is said, and what is said to whom. */
import type { Trajectory } from "../core/types.ts";
import type { Features } from "./ridge.ts";

/**
 * 1 for every word of the reply, and for every pair of a word asked and a word replied, `sleep → routine`: enough for a
 * linear reward to like a word after some requests and not after others. However often it occurs. Empty without a reply.
 */
export function crossedWords(asked: string, replied: string): Features {
  const [from, to] = [wordsIn(asked), wordsIn(replied)];
  return Object.fromEntries(
    to.flatMap((word) => [word, ...from.map((q) => `${q} → ${word}`)].map((f) => [f, 1])),
  );
}

/** {@link crossedWords} of the last turn: what was asked last, and what was replied. Empty without a turn. */
export function lastCrossed({ turns }: Trajectory): Features {
  const turn = turns.at(-1);
  return crossedWords(turn?.prompt.at(-1)?.content ?? "", turn?.action.content ?? "");
}

const wordsIn = (text: string): readonly string[] => [...new Set(text.split(/\s+/).filter((w) => w !== ""))];
