/** How likely a reply is to draw a reaction, learnt from replies that drew one and replies that did not. */
import type { StatefulHelper } from "../core/context.ts";
import { sigmoid } from "../core/logistic.ts";
import { type Random, shuffled } from "../core/random.ts";
import {
  fitLogistic,
  intercept,
  type LogisticOptions,
  oddsOf,
  readWeights,
  withIntercept,
} from "./logisticRegression.ts";
import type { Features } from "./ridge.ts";

/** Settings of {@link reactionModel}. */
export interface ReactionModelOptions extends LogisticOptions {
  /** κ, most replies without the reaction that are learnt from, for each with it. Default: all. */
  readonly negatives?: number;
}

/**
 * P(reaction | reply) = σ(b + θ · x), a logistic regression with an intercept b on rows with y = 1 where the reaction
 * came and 0 where it was possible and did not come. A silent reply is weaker evidence than a reaction: say how much by
 * the row's weight.
 *
 * Where reactions are rare, all positives and at most κ negatives for each are kept, drawn at random; what was left out
 * is put back into the rate, so that probabilities stay those of the log:
 *
 *     P = σ(b + θ · x + ln k)          k: share of the negatives that was kept, ≤ 1
 *
 * Each fit begins at 0 and forgets what went before, so that it is given the whole log. Before the first one with both
 * kinds of rows nothing is known, and every prediction is NaN. `fit` reports `rows` learnt from, `rate`, the share of
 * reactions in the log, and `kept`, k.
 * Paper: "Reinforcement Learning from User Feedback".
 */
export function reactionModel(
  options: ReactionModelOptions = {},
): (random: Random) => StatefulHelper<Features, number, number> {
  const { negatives = Number.POSITIVE_INFINITY } = options;
  return (random) => {
    let theta: ReadonlyMap<string, number> = new Map();
    return {
      async fit(rows) {
        const [yes, no] = [rows.filter(({ y }) => y > 0.5), rows.filter(({ y }) => y <= 0.5)];
        if (yes.length === 0 || no.length === 0) return { rows: 0 };
        const count = Math.min(no.length, Math.round(negatives * yes.length));
        const kept = count === no.length ? no : shuffled(no, random.split("negatives")).slice(0, count);
        const fitted = fitLogistic(
          [...yes, ...kept].map((row) => ({ ...row, x: withIntercept(row.x) })),
          new Map(),
          options,
        );
        const share = count / no.length;
        theta = new Map(fitted).set(intercept, (fitted.get(intercept) ?? 0) + Math.log(share));
        return { rows: yes.length + count, rate: yes.length / rows.length, kept: share };
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
