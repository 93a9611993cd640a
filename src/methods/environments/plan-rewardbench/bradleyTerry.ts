/** A reward model learnt from comparisons: linear in named features, small and deterministic on every machine. */
import type { StatefulHelper } from "../../../core/context.ts";
import {
  fitLogistic,
  type LogisticOptions,
  type LogisticWeights,
  logisticFitness,
  oddsOf,
  readWeights,
} from "../../../helper/logisticRegression.ts";
import type { Features } from "../../../helper/ridge.ts";

/** Settings of {@link bradleyTerry}. */
export type BradleyTerryOptions = LogisticOptions;

/**
 * Bradley and Terry's model: the first of two wins with probability σ(r(first) − r(second)), r(x) = θ · x. A row is a
 * comparison: `x` the features of the first minus those of the second, `y` in [0, 1] the probability that the first is
 * better. {@link fitLogistic} fits θ, starting from the last fit. `predict` gives θ · x: for the features of one item its
 * reward, up to a constant; for a difference the log-odds. Features that were never fitted have weight 0. `fit` reports
 * `rows`, and `loss` and `accuracy` after fitting. Paper: "Rank Analysis of Incomplete Block
 * Designs: I. The Method of Paired Comparisons".
 */
export function bradleyTerry(
  options: BradleyTerryOptions = {},
): () => StatefulHelper<Features, number, number> {
  return () => {
    let weights: LogisticWeights = new Map();
    return {
      async fit(rows) {
        if (rows.length === 0) return { rows: 0 };
        weights = fitLogistic(rows, weights, options);
        return { rows: rows.length, ...logisticFitness(rows, weights) };
      },
      predict: async (xs) => xs.map((x) => oddsOf(weights, x)),
      save: () => Object.fromEntries(weights),
      load(state) {
        weights = readWeights(state, "Bradley–Terry helper");
      },
    };
  };
}

/** The features of the first less those of the second. */
export function featureDifference(first: Features, second: Features): Features {
  const out: Record<string, number> = { ...first };
  for (const [name, value] of Object.entries(second)) out[name] = (out[name] ?? 0) - value;
  return Object.fromEntries(Object.entries(out).filter(([, value]) => value !== 0));
}
