/** Ridge regression: exact, and identical on every machine. */

import { z } from "zod";
import type { StatefulHelper } from "../core/context.ts";
import type { Json } from "../core/json.ts";
import { savedState } from "./savedState.ts";

/** Named numbers; an absent name counts as 0. */
export type Features = Readonly<Record<string, number>>;

/** Settings of {@link ridge}. */
export interface RidgeOptions {
  /** λ > 0, in units of rows: like λ prior rows per feature with target 0. Default 1. */
  readonly strength?: number;
  /** Share of the earlier rows' weight that each fit keeps, in [0, 1]; use a value below 1 for drifting data. Default 1. */
  readonly keep?: number;
}

/**
 * Ridge regression on the rows of all fits so far:
 *
 *     θ = (Σ w x xᵀ + λ I)⁻¹ Σ w x y,   predict(x) = θ · x
 *
 * No intercept; give every row a constant feature 1 where one is needed. New features may appear at any time; one that was
 * never fitted has weight 0. It stores sums and no rows, so its state grows only with the square of the number of features.
 * `fit` reports `rows` and `error`, the mean squared error on the rows given, after fitting.
 */
export function ridge(options: RidgeOptions = {}): () => StatefulHelper<Features, number, number> {
  const { strength = 1, keep = 1 } = options;
  return () => {
    let sums: Sums = { names: [], gram: [], moment: [] };
    let weights = new Map<string, number>();
    const solve = (): void => {
      const theta = solved(sums, strength);
      weights = new Map(sums.names.map((name, i) => [name, theta[i]!]));
    };
    const predicted = (x: Features): number => {
      let sum = 0;
      for (const [name, value] of Object.entries(x)) sum += (weights.get(name) ?? 0) * value;
      return sum;
    };
    return {
      async fit(rows) {
        sums = added(sums, keep, rows);
        solve();
        const squares = rows.map(({ x, y }) => (predicted(x) - y) ** 2);
        const error = squares.reduce((a, b) => a + b / rows.length, 0);
        return rows.length === 0 ? { rows: 0 } : { rows: rows.length, error };
      },
      predict: async (xs) => xs.map(predicted),
      save: () => ({
        names: [...sums.names],
        gram: sums.gram.map((row) => [...row]),
        moment: [...sums.moment],
      }),
      load(state) {
        sums = read(state);
        solve();
      },
    };
  };
}

/** Row i of the symmetric matrix `gram` holds its entries 0 … i. */
interface Sums {
  readonly names: readonly string[];
  readonly gram: readonly (readonly number[])[];
  readonly moment: readonly number[];
}

function added(
  old: Sums,
  keep: number,
  rows: readonly { readonly x: Features; readonly y: number; readonly weight: number }[],
): Sums {
  const names = [...new Set([...old.names, ...rows.flatMap(({ x }) => Object.keys(x))])];
  const place = new Map(names.map((name, i) => [name, i]));
  const gram = names.map((_, i) =>
    Float64Array.from({ length: i + 1 }, (_unused, j) => keep * (old.gram[i]?.[j] ?? 0)),
  );
  const moment = names.map((_, i) => keep * (old.moment[i] ?? 0));
  for (const { x, y, weight } of rows) {
    const entries = Object.entries(x).map(([name, value]) => [place.get(name)!, value] as const);
    for (const [i, a] of entries) {
      moment[i]! += weight * a * y;
      for (const [j, b] of entries) if (j <= i) gram[i]![j]! += weight * a * b;
    }
  }
  return { names, gram: gram.map((row) => [...row]), moment };
}

/** θ by Cholesky decomposition of the sums with λ added to the diagonal. */
function solved({ gram, moment }: Sums, strength: number): Float64Array {
  const n = gram.length;
  const lower = gram.map((row) => Float64Array.from(row));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = lower[i]![j]! + (i === j ? strength : 0);
      for (let k = 0; k < j; k++) sum -= lower[i]![k]! * lower[j]![k]!;
      lower[i]![j] = i === j ? Math.sqrt(sum) : sum / lower[j]![j]!;
    }
  }
  const theta = Float64Array.from(moment);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) theta[i]! -= lower[i]![k]! * theta[k]!;
    theta[i]! /= lower[i]![i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) theta[i]! -= lower[k]![i]! * theta[k]!;
    theta[i]! /= lower[i]![i]!;
  }
  return theta;
}

const sumsSchema = z.object({
  names: z.array(z.string()),
  gram: z.array(z.array(z.number())),
  moment: z.array(z.number()),
});

/** @throws WhetstoneError `checkpoint.damaged` where the state does not belong to this kind of helper. */
const read = (state: Json): Sums =>
  savedState(sumsSchema, state, { where: "ridge helper", expected: "a state with names, gram and moment" });
