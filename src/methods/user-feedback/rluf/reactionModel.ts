/** Predicts the probability of a user reaction to a reply, from a log of replies with and without one. */

import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import {
  fitLogistic,
  intercept,
  type LogisticOptions,
  oddsOf,
  readWeights,
  withIntercept,
} from "../../../helper/logisticRegression.ts";
import type { Features } from "../../../helper/ridge.ts";

/** Settings of {@link reactionModel}. */
export interface ReactionModelOptions extends LogisticOptions {
  /** Weight of a reply without the reaction relative to one with it, in (0, 1]. Default 1. */
  readonly silence?: number;
  /** κ, most negatives per positive reply. Default: all. */
  readonly negatives?: number;
}

/**
 * P(reaction | reply) = σ(b + θ · x), a logistic regression with an intercept b on rows with y = 1 where the reaction
 * came, 0 where it was possible and did not come, and null where no reaction was possible; null rows are ignored. A silent
 * reply is weaker evidence than a reaction; `silence` is its weight. With `silence` < 1, P is no longer the log's rate.
 *
 * With κ, all positives and at most κ random negatives per positive are kept, at least one; the intercept is corrected
 * for the dropped ones, so that probabilities stay those of the log:
 *
 *     P = σ(b + θ · x + ln k)          k: share of the negatives that was kept, ≤ 1
 *
 * Each fit starts from 0, so it needs the whole log. Before the first fit with both kinds of rows, every prediction is NaN.
 * `fit` reports `rows` used, `rate`, the share of reactions in the log, and `kept`, k.
 * Paper: "Reinforcement Learning from User Feedback".
 */
export function reactionModel(
  options: ReactionModelOptions = {},
): (random: Random) => StatefulHelper<Features, number | null, number> {
  const { negatives = Number.POSITIVE_INFINITY, silence = 1 } = options;
  return (random) => {
    let theta: ReadonlyMap<string, number> = new Map();
    return {
      async fit(rows) {
        const known = rows.flatMap(({ x, y, weight }) => (y === null ? [] : [{ x, y, weight }]));
        const yes = known.filter(({ y }) => y > 0.5);
        const no = known.filter(({ y }) => y <= 0.5).map((row) => ({ ...row, weight: silence * row.weight }));
        if (yes.length === 0 || no.length === 0) return { rows: 0 };
        const count = Math.min(no.length, Math.max(1, Math.round(negatives * yes.length)));
        const kept = count === no.length ? no : shuffled(no, random.split("negatives")).slice(0, count);
        const fitted = fitLogistic(
          [...yes, ...kept].map((row) => ({ ...row, x: withIntercept(row.x) })),
          new Map(),
          options,
        );
        const share = count / no.length;
        theta = new Map(fitted).set(intercept, (fitted.get(intercept) ?? 0) + Math.log(share));
        return { rows: yes.length + count, rate: yes.length / known.length, kept: share };
      },
      predict: async (xs) =>
        xs.map((x) => (theta.size === 0 ? Number.NaN : sigmoid(oddsOf(theta, withIntercept(x))))),
      save: () => Object.fromEntries(theta),
      load(state) {
        theta = readWeights(state, "reaction model");
      },
    };
  };
}
