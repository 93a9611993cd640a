/** Probability that an agent succeeds when a case is shown: the value that a retrieval policy learns. */

import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import {
  fitLogistic,
  type LogisticOptions,
  type LogisticWeights,
  logisticFitness,
  oddsOf,
  readWeights,
  withIntercept,
} from "../../../helper/logisticRegression.ts";
import type { Features } from "../../../helper/ridge.ts";

/** A case and the current situation. */
export interface CasePair {
  /** Text of the current task. */
  readonly query: string;
  /** Text of the case's task. */
  readonly situation: string;
  /** Whether the case succeeded. */
  readonly success: boolean;
  /** Cosine of the two texts' vectors. */
  readonly cosine: number;
}

/**
 * Q(s, c) = P(success | s, c shown) = σ(θ · x), a logistic model of the features shared by a situation and a case:
 *
 *     x = 1, cosine(s, c), and 1 for every word in both texts, separately for successful and failed cases
 *     θ minimises the mean of −r ln Q − (1 − r) ln(1 − Q) + λ/2 |θ|²         over all pairs ever shown, r: the outcome
 *
 * so that relevant words get more weight than incidental ones. Before the first fit Q increases with the cosine. Each fit
 * starts from the last one and reports `loss` and `accuracy`.
 * Paper: "AgentFly: Fine-tuning LLM Agents without Fine-tuning LLMs", with a network over sentence vectors.
 */
export function caseValue(options: LogisticOptions = {}): () => StatefulHelper<CasePair, number, number> {
  const settings = { strength: 3e-3, passes: 60, ...options };
  return () => {
    let theta: LogisticWeights = new Map([["cosine", 1]]);
    const known = new Map<string, readonly string[]>();
    const wordsOf = (text: string): readonly string[] => {
      const words = known.get(text) ?? wordsIn(text);
      known.set(text, words);
      return words;
    };
    return {
      async fit(rows) {
        const seen = rows.map(({ x, y, weight }) => ({ x: commonOf(x, wordsOf), y, weight }));
        theta = fitLogistic(seen, theta, settings);
        return { ...logisticFitness(seen, theta) };
      },
      predict: async (pairs) => pairs.map((pair) => sigmoid(oddsOf(theta, commonOf(pair, wordsOf)))),
      save: () => Object.fromEntries(theta),
      load: (state) => {
        theta = readWeights(state, "helper of case values");
      },
    };
  };
}

/** Shared features, by name. */
function commonOf(
  { query, situation, success, cosine }: CasePair,
  wordsOf: (text: string) => readonly string[],
): Features {
  const asked = wordsOf(query);
  const mark = success ? "+" : "-";
  const shared = wordsOf(situation).filter((word) => asked.includes(word));
  return withIntercept({
    cosine,
    [mark]: 1,
    ...Object.fromEntries(shared.map((word) => [`${mark} ${word}`, 1])),
  });
}

const wordsIn = (text: string): readonly string[] => [
  ...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)),
];
