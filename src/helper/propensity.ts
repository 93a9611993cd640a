/** Propensity model: the probability that a reply receives feedback, since feedback is rarely missing at random. */

import { sigmoid } from "../common/statistics/logistic.ts";
import type { StatefulHelper } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import {
  fitLogistic,
  type LogisticOptions,
  type LogisticWeights,
  oddsOf,
  readWeights,
  withIntercept,
} from "./logisticRegression.ts";
import type { Features } from "./ridge.ts";

/** Settings of {@link propensity}. */
export interface PropensityOptions extends LogisticOptions {
  /** Smallest predicted probability, in (0, 1]: an inverse propensity weight is at most 1 / least. Default 0.05. */
  readonly least?: number;
}

/**
 * p(x) = σ(b + θ · x), the probability of feedback on a served item: rows are all served items, with `y` 1 for those with
 * feedback and 0 for the others. Each fit starts from scratch, on the rows given:
 *
 *     Σ w (p(x) − y)² / Σ w + λ/2 |b, θ|²
 *
 * `predict` gives p, at least `least`. `fit` reports `rows`, `answered` (the share with feedback), `error` (the mean square
 * above), `clipped` (share of rows whose p was below `least`), and `effective`: the effective sample size of the weights
 * y/p as a share of the n rows with feedback, (Σ v)² / (n Σ v²) with v = w/p. Near 0, a few rows dominate.
 * Paper: "CausalRM: Causal-Theoretic Reward Modeling for RLHF from Observational User Feedbacks".
 */
export function propensity(options: PropensityOptions = {}): () => StatefulHelper<Features, number, number> {
  const { least = 0.05 } = options;
  if (!(least > 0 && least <= 1)) {
    throw new WhetstoneError("option.range", {
      where: "propensity, least",
      got: `${least}`,
      expected: "a probability above 0 and at most 1",
      fix: "Leave it out for 0.05, so that no row weighs more than 20.",
    });
  }
  return () => {
    let weights: LogisticWeights = new Map();
    const chance = (x: Features): number => sigmoid(oddsOf(weights, withIntercept(x)));
    return {
      async fit(rows) {
        if (rows.length === 0) return { rows: 0 };
        const total = rows.reduce((sum, { weight }) => sum + weight, 0);
        weights = fitLogistic(
          rows.map((row) => ({ ...row, x: withIntercept(row.x) })),
          new Map(),
          { loss: "squared", ...options },
        );
        let [answered, error, clipped, sum, squares, n] = [0, 0, 0, 0, 0, 0];
        for (const { x, y, weight } of rows) {
          const p = chance(x);
          answered += (weight / total) * y;
          error += (weight / total) * (p - y) ** 2;
          if (p < least) clipped++;
          if (y === 0) continue;
          const v = (weight * y) / Math.max(least, p);
          sum += v;
          squares += v * v;
          n++;
        }
        return {
          rows: rows.length,
          answered,
          error,
          clipped: clipped / rows.length,
          effective: n === 0 ? 0 : sum ** 2 / (n * squares),
        };
      },
      predict: async (xs) => xs.map((x) => Math.max(least, chance(x))),
      save: () => Object.fromEntries(weights),
      load(state) {
        weights = readWeights(state, "propensity helper");
      },
    };
  };
}
