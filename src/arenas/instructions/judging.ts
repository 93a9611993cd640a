/** What a reply is worth: by the hidden utility, by a first impression, and to the raters who compare two of them. */
import { type Instruction, politeWords, things } from "./tasks.ts";

const isThing = (word: string): boolean => things.includes(word);
const isPolite = (word: string): boolean => (politeWords as readonly string[]).includes(word);

/** The words of a reply. */
export const wordsIn = (reply: string): readonly string[] => reply.split(/\s+/).filter((word) => word !== "");

/**
 * A reply succeeds when it is paid this or more: of the utility, no grave fault and at most two words too many; of the
 * impression, for example two of three things and two polite words.
 */
export const enough = 0.75;

/**
 * The hidden utility, in [0, 1]. Grave faults cost 0.35 each: a thing that was asked for and is missing, a thing that was not
 * asked for, a wrong order, a wrong tone. Each word too many costs 0.1.
 */
export function utility({ asked, tone }: Instruction, reply: string): number {
  const words = wordsIn(reply);
  const named = [...new Set(words.filter(isThing))];
  const polite = words.filter(isPolite).length;
  const found = named.filter((thing) => asked.includes(thing));
  const inOrder = asked.filter((thing) => found.includes(thing)).every((thing, i) => thing === found[i]);
  const isRude = tone === "polite" && polite === 0;
  const isLong = tone === "brief" && polite > 0;
  const grave =
    asked.length - found.length + (named.length - found.length) + Number(!inOrder) + Number(isRude || isLong);
  const spare = words.length - named.length - Math.min(1, polite);
  return Math.max(0, 1 - 0.35 * grave - 0.1 * spare);
}

/**
 * The proxy, in [0, 1]: how well the things that a reply names match those that are mentioned (F1: unwanted ones count as
 * matches, and no order does), and up to three polite words, whatever the tone.
 */
export function impression({ mentioned }: Instruction, reply: string): number {
  const words = wordsIn(reply);
  const named = words.filter(isThing);
  const shared = mentioned.filter((thing) => named.includes(thing)).length;
  const match = (2 * shared) / (mentioned.length + named.length);
  const polite = Math.min(3, words.filter(isPolite).length) / 3;
  return 0.88 * match + 0.12 * polite;
}

/** Shares of the raters: careful ones go by the utility, hurried ones by the impression; the others toss a coin. */
export const raters = { careful: 0.65, hurried: 0.2, careless: 0.15 } as const;
/** Of the logit, per unit of utility or impression. */
const sharpness = 8;

const wins = (difference: number): number => 1 / (1 + Math.exp(-sharpness * difference));

/** Probability that a rater, drawn anew for each comparison, prefers the first of two replies: a mixture of Bradley–Terry models. */
export function preference(instruction: Instruction, first: string, second: string): number {
  const by = (worth: typeof utility): number => wins(worth(instruction, first) - worth(instruction, second));
  return raters.careful * by(utility) + raters.hurried * by(impression) + raters.careless / 2;
}
