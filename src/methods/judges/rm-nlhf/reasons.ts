/** Pairs to judge by reasons, of which one works in training and not later. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** r0 and r1 are the true reasons, r2 the spurious one, the others are weak. */
export const reasonWords = Array.from({ length: 10 }, (_, i) => `r${i}`);
const [truth, spurious, later] = [0.85, 0.95, 0.5] as const;

/** A world of reasons, with how often each is right. */
export interface Reasons extends Environment {
  /** Probability that a verdict by this reply's first reason is right, in training or after the shift. */
  accuracyOf(reply: string, shifted: boolean): number;
}

/**
 * A judge names one or two of ten reasons, and its verdict follows the first: it is right with probability 0.85 for the two true reasons,
 * between 0.6 and 0.75, drawn once, for seven weak ones, and for the spurious one 0.95 in training and ½ after a shift. People's critiques
 * name the true ones. All pairs look the same, so that what is learnt is which reasons to go by.
 * @param share of the pairs that have a human critique, in `metadata.critique`.
 */
export function reasons(seed: number, share: number, count = 400): Reasons {
  const random = randomStream(seed).split("reasons");
  const weak = reasonWords.map((word) => 0.6 + 0.15 * random.split("weak", word).next());
  const accuracy = (word: string | undefined, shifted: boolean): number => {
    const at = reasonWords.indexOf(word ?? "");
    return at < 0 ? 0 : at < 2 ? truth : at === 2 ? (shifted ? later : spurious) : weak[at]!;
  };
  const isRight = (task: Task, word: string | undefined): boolean =>
    randomStream(task.seed)
      .split("right", word ?? "")
      .next() < accuracy(word, false);
  const criticised = (question: number): boolean => criticisedBy(random.split("criticised", question), share);
  return {
    ...oneReply({
      name: "reasons",
      summary: "judge pairs by one or two reasons",
      questions: count,
      length: 2,
      words: reasonWords,
      seed,
      ask: () => "which is better",
      metadata: (question) => (criticised(question) ? { critique: "r0 ; r1" } : {}),
      grade: (task, reply) => {
        const success = isRight(task, reply.split(/\s+/)[0]);
        return { rewards: { outcome: Number(success) }, success };
      },
      expert: (task) => reasonWords.find((word) => isRight(task, word)) ?? "r0",
    }),
    accuracyOf: (reply, shifted) => accuracy(reply.split(/\s+/)[0], shifted),
  };
}

const criticisedBy = (random: Random, share: number): boolean => random.next() < share;
