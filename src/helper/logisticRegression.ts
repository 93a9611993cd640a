/** Logistic regression on named features. Models of comparisons and of reactions are fitted with it. */

import { z } from "zod";
import { adamwDefaults, adamwStep } from "../common/statistics/adamw.ts";
import { logSigmoid, sigmoid } from "../common/statistics/logistic.ts";
import type { Json } from "../core/json.ts";
import type { Features } from "./ridge.ts";
import { savedState } from "./savedState.ts";

/** Settings of {@link fitLogistic}. */
export interface LogisticOptions {
  /** Strength λ ≥ 0 of the L2 penalty λ/2 |θ|². Default 1e-3. */
  readonly strength?: number;
  /** Passes over all rows of one fit. Default 200. */
  readonly passes?: number;
  /** Step size of Adam, which falls to 0 over the passes. Default 0.05. */
  readonly learningRate?: number;
  /**
   * The minimised loss. "squared": Σ w · (σ(θ·x) − y)² / Σ w, which is bounded also for y outside [0, 1], such as unbiased
   * estimates. Default "log".
   */
  readonly loss?: "log" | "squared";
}

/** An observation: its features, its label (probability of "yes" in [0, 1]; any number for the squared loss), and its weight. */
export interface LogisticRow {
  readonly x: Features;
  readonly y: number;
  readonly weight: number;
}

/** θ by feature name; a feature that was never fitted has weight 0. */
export type LogisticWeights = ReadonlyMap<string, number>;

/** Name of the constant feature 1. No text feature has the empty name. */
export const intercept = "";
/** The features with the constant feature 1 added, whose weight is the log-odds of a row without any other feature. */
export const withIntercept = (x: Features): Features => ({ ...x, [intercept]: 1 });

/** θ · x: log-odds. */
export function oddsOf(theta: LogisticWeights, x: Features): number {
  let sum = 0;
  for (const [name, value] of Object.entries(x)) sum += (theta.get(name) ?? 0) * value;
  return sum;
}

/**
 * Minimises, starting from the current θ, the log loss below or the squared loss (`loss`):
 *
 *     Σ w · (−y ln σ(θ·x) − (1 − y) ln σ(−θ·x)) / Σ w + λ/2 |θ|²
 *
 * No intercept; give every row a constant feature 1 where one is needed. Without rows, or without any weight, θ is unchanged.
 */
export function fitLogistic(
  rows: readonly LogisticRow[],
  from: LogisticWeights,
  options: LogisticOptions = {},
): LogisticWeights {
  const { strength = 1e-3, passes = 200, learningRate = 0.05, loss = "log" } = options;
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return from;
  const names = [...new Set([...from.keys(), ...rows.flatMap(({ x }) => Object.keys(x))])];
  const place = new Map(names.map((name, i) => [name, i]));
  const sparse = rows.map(({ x, y, weight }) => ({
    at: Int32Array.from(Object.keys(x), (name) => place.get(name)!),
    by: Float64Array.from(Object.values(x)),
    y,
    share: weight / total,
  }));
  const theta = Float64Array.from(names, (name) => from.get(name) ?? 0);
  const [m, v] = [new Float64Array(theta.length), new Float64Array(theta.length)];
  for (let step = 1; step <= passes; step++) {
    const gradient = theta.map((t) => strength * t);
    for (const { at, by, y, share } of sparse) {
      let odds = 0;
      for (let k = 0; k < at.length; k++) odds += theta[at[k]!]! * by[k]!;
      const p = sigmoid(odds);
      const slope = share * (loss === "log" ? p - y : 2 * (p - y) * p * (1 - p));
      for (let k = 0; k < at.length; k++) gradient[at[k]!]! += slope * by[k]!;
    }
    const rate = learningRate * (1 - (step - 1) / passes);
    adamwStep(theta, gradient, m, v, { ...adamwDefaults, learningRate: rate, weightDecay: 0, step });
  }
  return new Map(names.map((name, i) => [name, theta[i]!]));
}

/** Weighted mean loss and accuracy; a tie counts half. NaN without any weight. */
export function logisticFitness(
  rows: readonly LogisticRow[],
  theta: LogisticWeights,
): { readonly loss: number; readonly accuracy: number } {
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  let [loss, right] = [0, 0];
  for (const { x, y, weight } of rows) {
    const odds = oddsOf(theta, x);
    loss -= (weight / total) * (y * logSigmoid(odds) + (1 - y) * logSigmoid(-odds));
    right += (weight / total) * (odds === 0 ? 0.5 : Number(odds > 0 === y > 0.5));
  }
  return total === 0 ? { loss: Number.NaN, accuracy: Number.NaN } : { loss, accuracy: right };
}

/** Reads weights from a checkpoint. @throws WhetstoneError `checkpoint.damaged` where the state does not belong to this kind of helper. */
export const readWeights = (state: Json, where: string): LogisticWeights =>
  new Map(
    Object.entries(
      savedState(z.record(z.string(), z.number()), state, { where, expected: "a state of numbers by name" }),
    ),
  );
