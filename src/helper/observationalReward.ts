/** A reward model for voluntary user feedback. It corrects for label noise (wrong clicks) and selection bias (missing feedback). */

import { sigmoid } from "../common/statistics/logistic.ts";
import type { Helper, StatefulHelper } from "../core/context.ts";
import {
  fitLogistic,
  type LogisticOptions,
  type LogisticRow,
  type LogisticWeights,
  oddsOf,
  readWeights,
  withIntercept,
} from "./logisticRegression.ts";
import { propensity } from "./propensity.ts";
import type { Features } from "./ridge.ts";

/** Rates of label noise; their sum is below 1. */
export interface FlipRates {
  /** ρ10 = P(called good | bad). */
  readonly up: number;
  /** ρ01 = P(called bad | good). */
  readonly down: number;
}

/** Settings of {@link observationalReward}. */
export interface ObservationalRewardOptions extends LogisticOptions {
  /** Rates of wrong clicks: given, "none", or estimated from the most certain items ({@link anchoredFlips}). Default "anchors". */
  readonly flips?: FlipRates | "anchors" | "none";
  /**
   * Correction for missing feedback. "none": use only items with feedback. "inverse": inverse propensity weights.
   * "doublyRobust": also impute the missing feedback. Default "doublyRobust".
   */
  readonly selection?: "none" | "inverse" | "doublyRobust";
  /** Model of the probability of feedback. Default: {@link propensity}. */
  readonly propensity?: () => Helper<Features, number, number>;
}

/**
 * r(x) = σ(b + θ · x) in [0, 1], the estimated quality, from all served items: `y` is 1 or 0 for an item called good or bad,
 * and `null` without feedback (not 0). Each fit starts from scratch, on the rows given:
 *
 *     p(x)        the probability of feedback, from all rows                         (o = 1 where there is feedback)
 *     η(x)        P(called good | x), from rows with feedback, weighted o/p;  ρ10, ρ01 at its ends
 *     ŷ(l)        (l − ρ10) / (1 − ρ01 − ρ10)
 *     inverse     Σ (o/p) (r − ŷ)² / Σ (o/p)
 *     g(x)        that minimiser: the imputed feedback
 *     doubly robust   Σ (r − [g + (o/p) (ŷ − g)])² / N           consistent if p or g is correct
 *
 * For squared error the noise-aware surrogate [(1 − ρ_other) ℓ(r, l) − ρ_l ℓ(r, 1 − l)] / (1 − ρ01 − ρ10) is (r − ŷ)² up
 * to a constant, and both sums have the paper's gradients. r stays in (0, 1) where ŷ does not, so that no loss is unbounded
 * below. Without any feedback every prediction is ½.
 *
 * `fit` reports `rows`, `answered`, `clipped` and `effective` (see {@link propensity}), `flips.up` and `flips.down`.
 * Paper: "CausalRM: Causal-Theoretic Reward Modeling for RLHF from Observational User Feedbacks".
 */
export function observationalReward(
  options: ObservationalRewardOptions = {},
): () => StatefulHelper<Features, number | null, number> {
  const { flips = "anchors", selection = "doublyRobust" } = options;
  const makePropensity = options.propensity ?? propensity(options);
  return () => {
    let weights: LogisticWeights = new Map();
    return {
      async fit(rows) {
        weights = new Map();
        const answered = rows.filter(({ y }) => y !== null).length;
        if (answered === 0) return { rows: rows.length, answered: 0 };
        const xs = rows.map(({ x }) => x);
        const chance = makePropensity();
        const served = rows.map(({ x, y, weight }) => ({ x, y: Number(y !== null), weight }));
        const stats = selection === "none" ? { rows: rows.length } : await chance.fit(served);
        const chances = selection === "none" ? xs.map(() => 1) : await chance.predict(xs);
        /** Rows with feedback, weighted by inverse propensity, with labels transformed by `read`. */
        const heard = (read: (y: number) => number): LogisticRow[] =>
          rows.flatMap(({ x, y, weight }, i) =>
            y === null ? [] : [{ x, y: read(y), weight: weight / chances[i]! }],
          );
        const { up, down } =
          flips === "none"
            ? { up: 0, down: 0 }
            : flips === "anchors"
              ? anchorsOf(heard(asSaid), options)
              : flips;
        const corrected = (y: number): number => (y - up) / (1 - up - down);
        const inverse = fitted(heard(corrected), options);
        const robust = (): LogisticRow[] =>
          rows.map(({ x, y, weight }, i) => {
            const guess = probability(inverse, x);
            return { x, weight, y: y === null ? guess : guess + (corrected(y) - guess) / chances[i]! };
          });
        weights = selection === "doublyRobust" ? fitted(robust(), options) : inverse;
        return { ...stats, answered: answered / rows.length, "flips.up": up, "flips.down": down };
      },
      predict: async (xs) => predictions(weights, xs),
      save: () => Object.fromEntries(weights),
      load(state) {
        weights = readWeights(state, "observationalReward helper");
      },
    };
  };
}

/**
 * Estimates the rates of wrong clicks from anchors: the tenths of all feedback (by weight) that are most certainly good and
 * most certainly bad. Feedback against such an item is assumed to be noise.
 *
 *     ρ10 = share of "good" among the lowest tenth by η,   ρ01 = share of "bad" among the highest;   each at most 0.45
 *
 * The paper reads both off η itself, at its minimum and maximum. A parametric η does not level off where the true one does,
 * so here it only selects the anchors. 0 and 0 without feedback.
 */
export function anchoredFlips(
  rows: readonly { readonly called: number; readonly y: number; readonly weight: number }[],
): FlipRates {
  const sorted = [...rows].sort((a, b) => a.called - b.called);
  return {
    up: Math.min(
      0.45,
      shareAmong(sorted, (y) => y),
    ),
    down: Math.min(
      0.45,
      shareAmong(sorted.toReversed(), (y) => 1 - y),
    ),
  };
}

/** Weighted mean over the first tenth of the total weight. */
function shareAmong(
  rows: readonly { readonly y: number; readonly weight: number }[],
  of: (y: number) => number,
): number {
  const tenth = rows.reduce((sum, { weight }) => sum + weight, 0) / 10;
  let [weight, sum] = [0, 0];
  for (const row of rows) {
    if (weight >= tenth) break;
    weight += row.weight;
    sum += row.weight * of(row.y);
  }
  return weight === 0 ? 0 : sum / weight;
}

const asSaid = (y: number): number => y;

/** Flip rates by a proxy model fitted to the feedback. */
function anchorsOf(heard: readonly LogisticRow[], options: LogisticOptions): FlipRates {
  const proxy = fitted(heard, options);
  return anchoredFlips(heard.map((row) => ({ ...row, called: probability(proxy, row.x) })));
}

/** Fits from scratch each time. */
const fitted = (rows: readonly LogisticRow[], options: LogisticOptions): LogisticWeights =>
  fitLogistic(
    rows.map((row) => ({ ...row, x: withIntercept(row.x) })),
    new Map(),
    { loss: "squared", ...options },
  );

const probability = (weights: LogisticWeights, x: Features): number =>
  sigmoid(oddsOf(weights, withIntercept(x)));
const predictions = (weights: LogisticWeights, xs: readonly Features[]): number[] =>
  xs.map((x) => probability(weights, x));
