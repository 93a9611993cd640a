/** Rewards from what users say of replies, each judged by corrections that it has not seen before it may pay. */

import { sigmoid } from "../../src/common/statistics/logistic.ts";
import { mean } from "../../src/common/statistics/statistics.ts";
import type { Logged } from "../../src/core/served.ts";
import type { Turn } from "../../src/core/types.ts";
import { fitLogistic, oddsOf } from "../../src/helper/logisticRegression.ts";
import { observationalReward } from "../../src/helper/observationalReward.ts";
import { observedFeedback } from "../../src/helper/observedFeedback.ts";
import type { Features } from "../../src/helper/ridge.ts";

/** A reply, and what its user would rather have had; never the same words. */
export interface Correction {
  /** The trajectory that was corrected. */
  readonly of: Logged;
  readonly request: string;
  /** What the user would rather have had. */
  readonly reply: string;
  readonly given: Features;
  readonly wanted: Features;
}

/** Log-odds that a reply is good, by its features; only differences between replies to one request mean something. */
export type Score = (replies: readonly Features[]) => Promise<readonly number[]>;

/** Something that learns to score replies. @param served all of it, with its feedback. */
export interface Judge {
  readonly name: string;
  readonly fit: (served: readonly Logged[], corrections: readonly Correction[]) => Promise<Score>;
}

export interface Audit {
  /** Corrections that a judge which had not seen them ranks above the reply that they correct; a tie counts half. */
  readonly right: number;
  readonly of: number;
}

const fitting = { strength: 1e-2, passes: 150, learningRate: 0.1 };
const folds = 5;

/** Every reply that was corrected. */
export function correctionsIn(
  served: readonly Logged[],
  featuresOf: (turn: Turn) => Features,
): readonly Correction[] {
  return served.flatMap((of) =>
    of.signals.flatMap((signal) => {
      const turn = of.trajectory.turns[signal.about[0]?.turn ?? 0];
      if (signal.kind !== "correction" || !turn || turn.action.content === signal.text) return [];
      const wanted = featuresOf({ ...turn, action: { ...turn.action, content: signal.text } });
      return [{ of, request: requestOf(turn), reply: signal.text, given: featuresOf(turn), wanted }];
    }),
  );
}

/** A reward model of corrections: Bradley–Terry, each correction being preferred to every other reply that was served to its request. */
export const byCorrections = (featuresOf: (turn: Turn) => Features): Judge => ({
  name: "corrections",
  async fit(served, corrections) {
    const turns = served.flatMap(({ trajectory }) => trajectory.turns.slice(0, 1));
    const to = Map.groupBy(turns, requestOf);
    const rows = corrections.flatMap(({ request, reply, wanted }) => {
      const others = (to.get(request) ?? []).filter((turn) => turn.action.content !== reply);
      return others.map((turn) => ({
        x: less(wanted, featuresOf(turn)),
        y: 1,
        weight: 1 / others.length,
      }));
    });
    const weights = fitLogistic(rows, new Map(), fitting);
    return async (replies) => replies.map((x) => oddsOf(weights, x));
  },
});

/** A reward model of thumbs, corrected for wrong clicks and silence. */
export const byThumbs = (featuresOf: (turn: Turn) => Features): Judge => ({
  name: "thumbs",
  async fit(served) {
    const reward = observationalReward(fitting)();
    await reward.fit(observedFeedback("reaction", served, featuresOf));
    return async (replies) => (await reward.predict(replies)).map((p) => Math.log(p / (1 - p)));
  },
});

/**
 * How often a judge agrees with corrections that it has not seen: fitted five times, each time without a fifth of the
 * corrections and without everything that was said of the replies that they correct.
 */
export async function audit(
  judge: Judge,
  served: readonly Logged[],
  corrections: readonly Correction[],
): Promise<Audit> {
  let right = 0;
  for (let fold = 0; fold < folds; fold++) {
    const out = corrections.filter((_, i) => i % folds === fold);
    const hidden = new Set(out.map(({ of }) => of));
    const score = await judge.fit(
      served.filter((one) => !hidden.has(one)),
      corrections.filter((_, i) => i % folds !== fold),
    );
    right += (await agreement(score, out)).right;
  }
  return { right, of: corrections.length };
}

/** How often a score ranks a correction above its reply. */
export async function agreement(score: Score, corrections: readonly Correction[]): Promise<Audit> {
  const margins = await marginsOf(score, corrections);
  return { right: margins.reduce((sum, m) => sum + (m === 0 ? 0.5 : Number(m > 0)), 0), of: margins.length };
}

async function marginsOf(score: Score, corrections: readonly Correction[]): Promise<readonly number[]> {
  const wanted = await score(corrections.map((c) => c.wanted));
  const given = await score(corrections.map((c) => c.given));
  return wanted.map((x, i) => x - given[i]!);
}

/**
 * The judges together, as one score: each vote is a judge's score in units of its usual margin. It weighs the log-odds of
 * the judge's agreement with corrections, (right + 1) / (wrong + 1), at least 0: a judge that is no better than a coin does not
 * count.
 *
 * @param audited how often a judge agrees; without it each has one vote.
 */
export async function ensemble(
  judges: readonly Judge[],
  served: readonly Logged[],
  corrections: readonly Correction[],
  audited?: typeof audit,
): Promise<Score> {
  const votes = await Promise.all(
    judges.map(async (judge) => {
      const found = await audited?.(judge, served, corrections);
      const weight = found ? Math.max(0, Math.log((found.right + 1) / (found.of - found.right + 1))) : 1;
      const score = await judge.fit(served, corrections);
      const margins = await marginsOf(score, corrections);
      const usual = Math.sqrt(mean(margins.map((m) => m * m)));
      return { score, share: usual > 0 ? weight / usual : 0 };
    }),
  );
  return async (replies) => {
    const scores = await Promise.all(votes.map(({ score }) => score(replies)));
    return replies.map((_, i) => votes.reduce((sum, { share }, j) => sum + share * scores[j]![i]!, 0));
  };
}

/** The last message of a turn's prompt. */
export const requestOf = (turn: Pick<Turn, "prompt"> | undefined): string =>
  turn?.prompt.at(-1)?.content ?? "";

/** The difference of two replies' features; what both have falls away. */
function less(a: Features, b: Features): Features {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...names].map((name) => [name, (a[name] ?? 0) - (b[name] ?? 0)] as const).filter(([, x]) => x !== 0),
  );
}

/** Scores as rewards in [0, 1]. */
export const asRewards =
  (score: Score): Score =>
  async (replies) =>
    (await score(replies)).map(sigmoid);
