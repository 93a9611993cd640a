/** A linear reward model that is fitted to comparisons. */
import type { StatefulHelper } from "../core/context.ts";
import type { Random } from "../core/random.ts";
import { crossedWords } from "./crossedWords.ts";
import {
  fitLogistic,
  type LogisticOptions,
  type LogisticRow,
  type LogisticWeights,
  logisticFitness,
  oddsOf,
  readWeights,
} from "./logisticRegression.ts";
import type { Features } from "./ridge.ts";

/** A request and a reply. */
export interface Exchanged {
  readonly asked: string;
  readonly replied: string;
}

/** A comparison that is fitted, or one exchange that is scored. */
export interface ComparedExchanges {
  readonly first: Exchanged;
  readonly second?: Exchanged;
}

/** A comparison with its label: the probability that `first` is better. */
export interface LabelledExchanges {
  readonly first: Exchanged;
  readonly second: Exchanged;
  readonly y: number;
  readonly weight: number;
}

/** Settings of {@link bradleyTerry}. */
export interface BradleyTerryOptions extends LogisticOptions {
  /** Features of an exchange. Default: {@link crossedWords}. */
  readonly featuresOf?: (exchange: Exchanged) => Features;
  /**
   * Further terms of the loss, each a list of rows with a coefficient: coefficient × weighted mean log loss. Rows have features of their
   * own, such as the difference of a reply's features under two requests.
   */
  readonly terms?: (
    pairs: readonly LabelledExchanges[],
    random: Random,
  ) => readonly { readonly coefficient: number; readonly rows: readonly LogisticRow[] }[];
}

/** Features of one thing less those of another; names where both are equal are left out. */
export function difference(a: Features, b: Features): Features {
  const out: Record<string, number> = {};
  for (const [name, value] of Object.entries(a)) out[name] = value;
  for (const [name, value] of Object.entries(b)) out[name] = (out[name] ?? 0) - value;
  return Object.fromEntries(Object.entries(out).filter(([, value]) => value !== 0));
}

/**
 * r(x, y) = θ · φ(x, y), fitted to comparisons by the Bradley–Terry model:
 *
 *     L = mean of −y ln σ(Δ) − (1 − y) ln σ(−Δ) + Σ_k c_k · (mean log loss of term k) + λ/2 |θ|²     Δ = r(first) − r(second)
 *
 * Rows without a label (y null) or without `second` are ignored. Each fit starts at θ = 0. `predict` gives the reward of `first`, less
 * that of `second` where there is one; NaN before the first fit with a comparison. `fit` reports `rows`, `loss` and `accuracy` on the
 * comparisons.
 */
export function bradleyTerry(
  options: BradleyTerryOptions = {},
): (random: Random) => StatefulHelper<ComparedExchanges, number | null, number> {
  const { featuresOf = ({ asked, replied }) => crossedWords(asked, replied), terms, ...logistic } = options;
  return (random) => {
    let theta: LogisticWeights = new Map();
    return {
      async fit(rows) {
        const pairs = rows.flatMap(({ x: { first, second }, y, weight }) =>
          y === null || !second ? [] : [{ first, second, y, weight }],
        );
        if (pairs.length === 0) return { rows: 0 };
        const compared = pairs.map(({ first, second, y, weight }) => ({
          x: difference(featuresOf(first), featuresOf(second)),
          y,
          weight,
        }));
        const others = (terms?.(pairs, random.split("terms")) ?? []).filter((term) => term.rows.length > 0);
        theta = fitTerms([{ coefficient: 1, rows: compared }, ...others], logistic);
        return { rows: pairs.length, ...logisticFitness(compared, theta) };
      },
      predict: async (xs) =>
        xs.map(({ first, second }) =>
          theta.size === 0
            ? Number.NaN
            : oddsOf(theta, featuresOf(first)) - (second ? oddsOf(theta, featuresOf(second)) : 0),
        ),
      save: () => Object.fromEntries(theta),
      load(state) {
        theta = readWeights(state, "Bradley–Terry helper");
      },
    };
  };
}

/** Minimises Σ_k c_k · (weighted mean log loss of term k) + λ/2 |θ|², starting at θ = 0. */
function fitTerms(
  terms: readonly { readonly coefficient: number; readonly rows: readonly LogisticRow[] }[],
  { strength = 1e-3, ...logistic }: LogisticOptions,
): LogisticWeights {
  const total = terms.reduce((sum, { coefficient }) => sum + coefficient, 0);
  const rows = terms.flatMap(({ coefficient, rows }) => {
    const weight = rows.reduce((sum, row) => sum + row.weight, 0);
    return rows.map((row) => ({ ...row, weight: (row.weight / weight) * coefficient }));
  });
  // the rows' weights add up to `total`, by which fitLogistic divides
  return fitLogistic(rows, new Map(), { ...logistic, strength: strength / total });
}
