/** Two ways to derive a reward from feedback: as it comes, and corrected for its known biases. */
import type { StatefulHelper } from "../../src/core/context.ts";
import type { Turn } from "../../src/core/types.ts";
import { crossedWords } from "../../src/helper/crossedWords.ts";
import { observationalReward } from "../../src/helper/observationalReward.ts";
import type { Features } from "../../src/helper/ridge.ts";

export interface Learner {
  readonly name: string;
  /** What it does, in a few words. */
  readonly what: string;
  /** The channel that it learns from, and that new versions are compared by. */
  readonly channel: string;
  readonly reward: () => StatefulHelper<Features, number | null, number>;
}

const fit = { strength: 1e-2, passes: 150, learningRate: 0.1 };

export const learners = {
  naive: {
    name: "likes",
    what: "thumbs as they come",
    channel: "reaction",
    reward: observationalReward({ ...fit, flips: "none", selection: "none" }),
  },
  debiased: {
    name: "debiased",
    what: "outcomes weeks later, corrected for wrong clicks and silence",
    channel: "outcome",
    reward: observationalReward(fit),
  },
} as const satisfies Readonly<Record<string, Learner>>;

/** An ablation: the second learner's channel without its corrections. */
const outcomes: Learner = {
  name: "outcomes",
  what: "outcomes weeks later as they come",
  channel: "outcome",
  reward: observationalReward({ ...fit, flips: "none", selection: "none" }),
};

/** The two learners that are shown; the ablation is only measured. */
export const allLearners: readonly Learner[] = [learners.naive, learners.debiased, outcomes];

/** The features of a reply: its words and the last request, as a reward model sees them. */
export const featuresOf = ({ prompt, action }: Turn): Features =>
  crossedWords(prompt.at(-1)?.content ?? "", placed(action.content));

/** Words are marked with their position: `0:honestly 1:briefly 2:routine`. */
const placed = (text: string): string =>
  text
    .split(/\s+/)
    .map((word, place) => `${place}:${word}`)
    .join(" ");
