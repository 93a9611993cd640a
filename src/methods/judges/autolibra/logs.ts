/** Logs of an agent with six hidden flaws, and comments on them in several wordings. */
import { type Random, randomStream } from "../../../core/random.ts";

/** A logged attempt. */
export interface Log {
  /** What the agent did, step by step. */
  readonly steps: readonly string[];
  /** Which of the flaws it shows. */
  readonly flaws: readonly number[];
  readonly success: boolean;
}

/** A comment on a step. */
export interface LogComment {
  readonly log: number;
  readonly behaviour: string;
  readonly said: string;
  readonly sign: 1 | -1;
}

const flaws = [
  ["asks the same question again", "confirms what it was told", "repeats itself"],
  ["guesses the date without looking", "looks up the date in the calendar", "makes up facts"],
  ["pays before the user agreed", "waits for the user to agree to the payment", "acts without permission"],
  ["writes ten paragraphs of greeting", "greets in one sentence", "is long winded"],
  ["opens the wrong folder twice", "opens the right folder at once", "loses its way"],
  ["ignores the error message", "reads the error message and tries another way", "does not react to errors"],
] as const;
const fillers = ["please", "then", "now", "today", "quietly", "as before", "in the end", "with care"];
const wordings = [
  (about: string) => `it ${about}`,
  (about: string) => `I noticed that the agent ${about} here`,
  (about: string) => `${about} and that matters`,
  (about: string) => `my only remark : ${about}`,
  (about: string) => `${about} as far as I can see`,
];

const pick = <T>(all: readonly T[], random: Random): T => all[random.below(all.length)]!;

/**
 * An attempt shows each of six flaws with probability 0.3, and does the opposite otherwise, one step for each in some order, in words that
 * vary. It succeeds with probability 0.8 less 0.1 for each flaw: what looks like success says little of flaws.
 */
export function logs(seed: number, kind: string, count: number): readonly Log[] {
  return Array.from({ length: count }, (_, i) => {
    const random = randomStream(seed).split("log", kind, i);
    const shown = flaws.map((__, f) => random.split("flaw", f).next() < 0.3);
    const steps = flaws.map(
      ([bad, good], f) => `${pick(fillers, random)} ${shown[f] ? bad : good} ${pick(fillers, random)}`,
    );
    const own = shown.flatMap((is, f) => (is ? [f] : []));
    return { steps, flaws: own, success: random.next() < 0.8 - 0.1 * own.length };
  });
}

/** Two comments on each attempt, each on one of its steps: blame for a flaw, praise for its opposite. */
export function commentsOn(all: readonly Log[], seed: number): readonly LogComment[] {
  return all.flatMap(({ steps, flaws: own }, log) =>
    [0, 1].map((n) => {
      const random = randomStream(seed).split("comment", log, n);
      const f = random.below(flaws.length);
      const blamed = own.includes(f);
      const about = blamed ? flaws[f]![2] : `never ${flaws[f]![2]}`;
      return {
        log,
        behaviour: steps[f]!,
        said: pick(wordings, random)(about),
        sign: blamed ? (-1 as const) : (1 as const),
      };
    }),
  );
}
