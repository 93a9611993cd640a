/** The chance that somebody says anything of a reply: who is silent is seldom so by chance. */

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
  /** Smallest chance that is ever predicted, in (0, 1]: nobody weighs more than 1 over it. Default 0.05. */
  readonly least?: number;
}

/**
 * p(x) = σ(b + θ · x), the chance of feedback on something served: rows are all that was served, `y` 1 where feedback came
 * and 0 where none did. Each fit begins anew, on the rows given:
 *
 *     Σ w (p(x) − y)² / Σ w + λ/2 |b, θ|²
 *
 * `predict` gives p, at least `least`. `fit` reports `rows`, `answered` (their share), `error` (the mean square above),
 * `clipped` (share of rows whose p was below `least`), and `effective`: how many answers the weights y/p are worth, as a
 * share of those there are, (Σ v)² / (n Σ v²) with v = w/p over the n that answered. Near 0, a few of them decide.
 * Paper: "CausalRM: Causal-Theoretic Reward Modeling for RLHF from Observational User Feedbacks".
 */
export function propensity(options: PropensityOptions = {}): () => StatefulHelper<Features, number, number> {
  const { least = 0.05 } = options;
  if (!(least > 0 && least <= 1)) {
    throw new WhetstoneError("option.range", {
      where: "propensity, least",
      got: `${least}`,
      expected: "a chance above 0, at most 1",
      mend: "Leave it out for 0.05: no answer then counts more than 20 times.",
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
