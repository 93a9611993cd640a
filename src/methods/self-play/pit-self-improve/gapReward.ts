import { z } from "zod";
import { logSigmoid, sigmoid } from "../../../common/statistics/logistic.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import { savedState } from "../../../helper/savedState.ts";

/** Two answers to a question, as texts: how much better is the first? */
export interface Gap {
  readonly asked: string;
  readonly first: string;
  readonly second: string;
}

/** Settings of {@link gapReward}. */
export interface GapRewardOptions {
  /** Passes over all pairs in a fit. Default 100. */
  readonly steps?: number;
  /** Step size. Default 1. */
  readonly rate?: number;
  /** Weight decay of each pass. Default 1e-3. */
  readonly decay?: number;
  /** Whether an answer is also held against itself: the ties (w, w) and (l, l). Default true. */
  readonly ties?: boolean;
}

/**
 * Loss of a pair, w better than l, for the margins of a linear r(y₁, y₂) = a · φ(y₁) + b · φ(y₂):
 *
 *     u = a · (φ(w) − φ(l)),   v = b · (φ(l) − φ(w))
 *     order: r(w, l) ≥ r(w, w) ≈ r(l, l) ≥ r(l, w)
 *     loss = −[2 ln σ(u) + 2 ln σ(v) + ln σ(u + v)]      without ties: −ln σ(u + v)
 *
 * since r(w, l) − r(l, l) = r(w, w) − r(l, w) = u, and r(w, l) − r(w, w) = r(l, l) − r(l, w) = v. The loss is the same for r and
 * r + constant: 0 is no threshold.
 * Paper: "Enable Language Models to Implicitly Learn Self-Improvement From Data".
 */
export function gapLoss(
  u: number,
  v: number,
  ties = true,
): { readonly loss: number; readonly du: number; readonly dv: number } {
  const both = sigmoid(-(u + v));
  if (!ties) return { loss: -logSigmoid(u + v), du: -both, dv: -both };
  return {
    loss: -(2 * logSigmoid(u) + 2 * logSigmoid(v) + logSigmoid(u + v)),
    du: -2 * sigmoid(-u) - both,
    dv: -2 * sigmoid(-v) - both,
  };
}

/** Features of an answer: each word at its place, for its question alone. */
const featuresOf = (asked: string, answer: string): string[] =>
  answer
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map((word, place) => `${asked} ${place} ${word}`);

const saved = z.object({ first: z.record(z.string(), z.number()), second: z.record(z.string(), z.number()) });

/**
 * A reward model of two answers, linear in their words, fitted by gradient descent to pairs whose `first` is the better one. It
 * predicts r(first, second), the gap by which the first is better; the order of the arguments is (new, reference). A word that no pair
 * had counts 0. Every fit goes on from the last weights. `fit` returns the mean loss of its last pass.
 * Paper: "Enable Language Models to Implicitly Learn Self-Improvement From Data".
 */
export function gapReward(options: GapRewardOptions = {}): StatefulHelper<Gap, number, number> {
  const { steps = 100, rate = 1, decay = 1e-3, ties = true } = options;
  let a = new Map<string, number>();
  let b = new Map<string, number>();
  const at = (weights: ReadonlyMap<string, number>, features: readonly string[]): number =>
    features.reduce((sum, feature) => sum + (weights.get(feature) ?? 0), 0);
  const add = (weights: Map<string, number>, features: readonly string[], amount: number): void => {
    for (const feature of features) weights.set(feature, (weights.get(feature) ?? 0) + amount);
  };
  return {
    fit: async (rows) => {
      const pairs = rows.map(({ x }) => ({
        won: featuresOf(x.asked, x.first),
        lost: featuresOf(x.asked, x.second),
      }));
      let loss = 0;
      for (let step = 0; step < steps && pairs.length > 0; step++) {
        loss = 0;
        const slopes = pairs.map(({ won, lost }) =>
          gapLoss(at(a, won) - at(a, lost), at(b, lost) - at(b, won), ties),
        );
        for (const weights of [a, b])
          for (const [feature, value] of weights) weights.set(feature, value * (1 - decay));
        // words of different questions never meet: the step is for one pair, not for the mean of all
        slopes.forEach(({ loss: own, du, dv }, i) => {
          const { won, lost } = pairs[i]!;
          loss += own / pairs.length;
          const share = rate / Math.sqrt(pairs.length);
          add(a, won, -share * du);
          add(a, lost, share * du);
          add(b, lost, -share * dv);
          add(b, won, share * dv);
        });
      }
      return { loss };
    },
    predict: async (xs) =>
      xs.map(
        ({ asked, first, second }) => at(a, featuresOf(asked, first)) + at(b, featuresOf(asked, second)),
      ),
    save: () => ({ first: Object.fromEntries(a), second: Object.fromEntries(b) }),
    load: (state) => {
      const { first, second } = savedState(saved, state, {
        where: "gap reward",
        expected: "weights of the words of the first and of the second answer",
      });
      a = new Map(Object.entries(first));
      b = new Map(Object.entries(second));
    },
  };
}
