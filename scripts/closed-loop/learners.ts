/** Two ways to make a reward of what users say: as it comes, and with what is known to be wrong with it. */
import type { StatefulHelper } from "../../src/core/context.ts";
import type { Logged } from "../../src/core/served.ts";
import type { Signal } from "../../src/core/signal.ts";
import { signalValue } from "../../src/core/signal.ts";
import { crossedWords } from "../../src/helper/crossedWords.ts";
import { observationalReward } from "../../src/helper/observationalReward.ts";
import type { Features } from "../../src/helper/ridge.ts";

export interface Learner {
  readonly name: string;
  /** What it does, in a few words. */
  readonly what: string;
  /** The channel that it learns from, and that a new version is judged by. */
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

/** What of the second one's success the channel alone explains. */
const outcomes: Learner = {
  name: "outcomes",
  what: "outcomes weeks later as they come",
  channel: "outcome",
  reward: observationalReward({ ...fit, flips: "none", selection: "none" }),
};

/** The two that are shown, and the one that is measured beside them. */
export const allLearners: readonly Learner[] = [learners.naive, learners.debiased, outcomes];

/** What was served, and what was heard of it on one channel: 1 good, 0 bad, null where nobody said a thing. */
export interface Heard {
  readonly x: Features;
  readonly y: number | null;
  readonly weight: number;
}

/** One row for every exposure on the channel; of several signals that answer it, the last one counts. */
export function heardOn(channel: string, all: readonly Logged[]): Heard[] {
  return all.flatMap(({ trajectory, signals, exposures }) =>
    exposures
      .filter((exposure) => exposure.channel === channel)
      .map((exposure) => {
        const turn = trajectory.turns[exposure.about.turn ?? 0];
        const answer = signals.findLast((signal: Signal) => signal.exposure === exposure.id);
        return {
          x: featuresOf(turn?.prompt.at(-1)?.content ?? "", turn?.action.content ?? ""),
          y: (answer && signalValue(answer)) ?? null,
          weight: 1,
        };
      }),
  );
}

/** Words of the reply with their places, alone and with each word asked: a word said elsewhere is another one. */
export const featuresOf = (asked: string, replied: string): Features =>
  crossedWords(
    asked,
    replied
      .split(/\s+/)
      .map((word, place) => `${place}:${word}`)
      .join(" "),
  );
