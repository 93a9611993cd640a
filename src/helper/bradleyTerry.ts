/** A reward learnt from comparisons: linear in named features, small, and the same on every machine. */
import { z } from "zod";
import { adamwDefaults, adamwStep } from "../core/adamw.ts";
import type { StatefulHelper } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { logSigmoid, sigmoid } from "../core/logistic.ts";
import type { Features } from "./ridge.ts";

/** Settings of {@link bradleyTerry}. */
export interface BradleyTerryOptions {
  /** λ ≥ 0 of the penalty λ/2 |θ|². Default 1e-3. */
  readonly strength?: number;
  /** Passes over all rows of one fit. Default 200. */
  readonly passes?: number;
  /** Step size of Adam, which falls to 0 over the passes. Default 0.05. */
  readonly learningRate?: number;
}

/**
 * Bradley and Terry's model: the first of two wins with probability σ(r(first) − r(second)), r(x) = θ · x. A row is a
 * comparison: `x` the features of the first less those of the second, `y` in 0…1 how surely the first is the better
 * one. θ minimises
 *
 *     Σ w · (−y ln σ(θ·x) − (1 − y) ln σ(−θ·x)) / Σ w + λ/2 |θ|²
 *
 * and goes on from where the last fit ended. `predict` gives θ · x: of the features of one thing its reward, up to a
 * constant; of a difference the log-odds. Features that were never fitted count for nothing. `fit` reports `rows`,
 * and `loss` and `accuracy` after fitting. Paper: "Rank Analysis of Incomplete Block Designs: I. The Method of Paired
 * Comparisons".
 */
export function bradleyTerry(
  options: BradleyTerryOptions = {},
): () => StatefulHelper<Features, number, number> {
  const { strength = 1e-3, passes = 200, learningRate = 0.05 } = options;
  return () => {
    let weights = new Map<string, number>();
    const score = (x: Features): number => {
      let sum = 0;
      for (const [name, value] of Object.entries(x)) sum += (weights.get(name) ?? 0) * value;
      return sum;
    };
    return {
      async fit(rows) {
        if (rows.length === 0) return { rows: 0 };
        const names = [...new Set([...weights.keys(), ...rows.flatMap(({ x }) => Object.keys(x))])];
        const place = new Map(names.map((name, i) => [name, i]));
        const total = rows.reduce((sum, { weight }) => sum + weight, 0);
        const sparse = rows.map(({ x, y, weight }) => ({
          at: Int32Array.from(Object.keys(x), (name) => place.get(name)!),
          by: Float64Array.from(Object.values(x)),
          y,
          share: weight / total,
        }));
        const theta = Float64Array.from(names, (name) => weights.get(name) ?? 0);
        const [m, v] = [new Float64Array(theta.length), new Float64Array(theta.length)];
        for (let step = 1; step <= passes; step++) {
          const gradient = theta.map((t) => strength * t);
          for (const { at, by, y, share } of sparse) {
            let odds = 0;
            for (let k = 0; k < at.length; k++) odds += theta[at[k]!]! * by[k]!;
            const slope = share * (sigmoid(odds) - y);
            for (let k = 0; k < at.length; k++) gradient[at[k]!]! += slope * by[k]!;
          }
          const rate = learningRate * (1 - (step - 1) / passes);
          adamwStep(theta, gradient, m, v, { ...adamwDefaults, learningRate: rate, weightDecay: 0, step });
        }
        weights = new Map(names.map((name, i) => [name, theta[i]!]));
        let [loss, right] = [0, 0];
        rows.forEach(({ x, y, weight }) => {
          const odds = score(x);
          loss -= (weight / total) * (y * logSigmoid(odds) + (1 - y) * logSigmoid(-odds));
          right += (weight / total) * (odds === 0 ? 0.5 : Number(odds > 0 === y > 0.5));
        });
        return { rows: rows.length, loss, accuracy: right };
      },
      predict: async (xs) => xs.map(score),
      save: () => Object.fromEntries(weights),
      load(state) {
        weights = read(state);
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

/** @throws WhetstoneError `checkpoint.damaged` for what no helper of this kind has saved. */
function read(state: Json): Map<string, number> {
  const { success, data } = z.record(z.string(), z.number()).safeParse(state);
  if (success) return new Map(Object.entries(data));
  throw new WhetstoneError("checkpoint.damaged", {
    where: "Bradley–Terry helper",
    got: "a state of another form",
    expected: "numbers by name",
    mend: "Resume with the method that saved it.",
  });
}
