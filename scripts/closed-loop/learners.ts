/** Ways to derive a reward from what users say: as it comes, corrected for its known biases, and by judges that are audited. */
import type { Logged, ReceivedSignal, ServedResponse } from "../../src/core/served.ts";
import type { Turn } from "../../src/core/types.ts";
import { crossedWords } from "../../src/helper/crossedWords.ts";
import {
  type ObservationalRewardOptions,
  observationalReward,
} from "../../src/helper/observationalReward.ts";
import { observedFeedback } from "../../src/helper/observedFeedback.ts";
import type { Features } from "../../src/helper/ridge.ts";
import { meanValue } from "../../src/release/liveData.ts";
import {
  agreement,
  asRewards,
  audit,
  byCorrections,
  byThumbs,
  correctionsIn,
  ensemble,
  type Judge,
  requestOf,
  type Score,
} from "./judges.ts";
import type { Asked } from "./training.ts";

/** A response with its feedback. */
export interface Answered {
  readonly response: ServedResponse;
  readonly signals: readonly ReceivedSignal[];
}

/** What was learnt from everything served so far. */
export interface Learnt {
  /** Pays the next version, in [0, 1]. Without it the next version imitates what is `shown`. */
  readonly reward?: Score;
  readonly shown?: readonly Asked[];
  /** What versions are compared by while they are served. Undefined: nothing was said. */
  readonly worth: (answered: Answered) => Promise<number | undefined>;
  /** Why a version that is better by `worth` may not be promoted yet. @param since what was served since it was learnt. */
  readonly objection?: (since: readonly Logged[]) => Promise<string | undefined>;
}

export interface Learner {
  readonly name: string;
  /** What it does, in a few words. */
  readonly what: string;
  readonly learn: (served: readonly Logged[]) => Promise<Learnt>;
}

const fit = { strength: 1e-2, passes: 150, learningRate: 0.1 };

/** Rewards fitted to the answers on one channel, which versions are compared by as well. */
const fromChannel =
  (channel: string, options: ObservationalRewardOptions): Learner["learn"] =>
  async (served) => {
    const reward = observationalReward({ ...fit, ...options })();
    await reward.fit(observedFeedback(channel, served, featuresOf));
    const value = meanValue(channel);
    return { reward: (replies) => reward.predict(replies), worth: async ({ signals }) => value(signals) };
  };

const asTheyCome = { flips: "none", selection: "none" } as const;

export const learners = {
  naive: { name: "likes", what: "thumbs as they come", learn: fromChannel("reaction", asTheyCome) },
  debiased: {
    name: "debiased",
    what: "outcomes weeks later, corrected for wrong clicks and silence",
    learn: fromChannel("outcome", {}),
  },
} as const satisfies Readonly<Record<string, Learner>>;

/** Corrections that must have come since a version was learnt before it is promoted. */
const fresh = 4;

/**
 * Judges of replies, which also compare versions by every reply that is served.
 * @param audited their votes weigh what corrections say of them, and later corrections may object.
 */
const judged =
  (judges: readonly Judge[], audited: boolean): Learner["learn"] =>
  async (served) => {
    const corrections = correctionsIn(served, featuresOf);
    const score = await ensemble(judges, served, corrections, audited ? audit : undefined);
    const reward = asRewards(score);
    return {
      reward,
      async worth({ response }) {
        const content = response.choices[0]?.message.content;
        return content === undefined
          ? undefined
          : (await reward([featuresOfReply(requestOf(response), content)]))[0];
      },
      ...(audited && {
        async objection(since) {
          const { right, of } = await agreement(score, correctionsIn(since, featuresOf));
          if (of < fresh) return `only ${of} corrections have come since the judges were fitted`;
          return right > of / 2
            ? undefined
            : `the judges agree with ${right} of ${of} corrections that came later`;
        },
      }),
    };
  };

/** Ablations and learners that are measured, not shown in the demonstration. */
const measured: readonly Learner[] = [
  {
    name: "outcomes",
    what: "outcomes weeks later as they come",
    learn: fromChannel("outcome", asTheyCome),
  },
  {
    name: "thumbs",
    what: "thumbs, corrected for wrong clicks and silence",
    learn: fromChannel("reaction", {}),
  },
  {
    name: "imitation",
    what: "users' corrections, imitated; every version is promoted",
    learn: async (served) => ({
      shown: correctionsIn(served, featuresOf).map(({ request, reply }) => ({ request, reply })),
      worth: async () => 0.5,
    }),
  },
  {
    name: "corrections",
    what: "a reward model of corrections, which also compares versions",
    learn: (served) => judged([byCorrections(featuresOf)], false)(served),
  },
  {
    name: "both",
    what: "the reward models of thumbs and corrections, with one vote each, which also compare versions",
    learn: (served) => judged([byThumbs(featuresOf), byCorrections(featuresOf)], false)(served),
  },
];

/** The learner without outcomes: from thumbs and corrections. From thumbs alone utility rises in 4 of 8 seeds (`thumbs`). */
const audited: Learner = {
  name: "audited",
  what: "the same two, weighed by their agreement with corrections that they have not seen, and watched by later ones",
  learn: (served) => judged([byThumbs(featuresOf), byCorrections(featuresOf)], true)(served),
};

export const allLearners: readonly Learner[] = [learners.naive, learners.debiased, ...measured, audited];

/** The features of a reply: its words and the last request, as a reward model sees them. */
export const featuresOf = (turn: Turn): Features => featuresOfReply(requestOf(turn), turn.action.content);

const featuresOfReply = (asked: string, content: string): Features => crossedWords(asked, placed(content));

/** Words are marked with their position: `0:honestly 1:briefly 2:routine`. */
const placed = (text: string): string =>
  text
    .split(/\s+/)
    .map((word, place) => `${place}:${word}`)
    .join(" ");
