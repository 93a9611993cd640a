/** Instructions that a rule can check on a reply, written so that a given reply obeys or breaks them. */
import type { Random } from "../../../core/random.ts";

/** An instruction in words, and its check. */
export interface Checkable {
  readonly text: string;
  obeys(reply: string): boolean;
}

/**
 * A kind of instruction. g(reply, obeyed) writes one that the reply obeys, or breaks; undefined where there is none, such as a word that a
 * reply with all words does not have.
 */
export type InstructionFunction = (reply: string, obeyed: boolean, random: Random) => Checkable | undefined;

const wordsOf = (reply: string): readonly string[] => reply.split(/\s+/).filter((w) => w !== "");

/** "say W": a word that the reply must contain, out of `words`. */
export const keyword =
  (words: readonly string[]): InstructionFunction =>
  (reply, obeyed, random) => {
    const has = new Set(wordsOf(reply));
    const fitting = words.filter((word) => has.has(word) === obeyed);
    const word = fitting[random.below(fitting.length)];
    return word === undefined
      ? undefined
      : { text: `say ${word}`, obeys: (other) => wordsOf(other).includes(word) };
  };

/** "at most N words" or "at least N words", with N up to `spread` words from the reply's own length. */
export const lengthLimit =
  (spread = 3): InstructionFunction =>
  (reply, obeyed, random) => {
    const n = wordsOf(reply).length;
    const by = random.below(spread) + Number(!obeyed);
    if (random.below(2) === 0) {
      const most = obeyed ? n + by : n - by;
      return most < 1
        ? undefined
        : { text: `at most ${most} words`, obeys: (other) => wordsOf(other).length <= most };
    }
    const least = obeyed ? n - by : n + by;
    return { text: `at least ${least} words`, obeys: (other) => wordsOf(other).length >= least };
  };

/** "end with W": the reply's last word, or another one out of `words`. */
export const ending =
  (words: readonly string[]): InstructionFunction =>
  (reply, obeyed, random) => {
    const last = wordsOf(reply).at(-1);
    const fitting = words.filter((word) => (word === last) === obeyed);
    const word = fitting[random.below(fitting.length)];
    return word === undefined
      ? undefined
      : { text: `end with ${word}`, obeys: (other) => wordsOf(other).at(-1) === word };
  };
