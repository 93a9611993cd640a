import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Random } from "../../../core/random.ts";
import { crossedWords } from "../../../helper/crossedWords.ts";
import {
  fitLogistic,
  type LogisticWeights,
  oddsOf,
  readWeights,
  withIntercept,
} from "../../../helper/logisticRegression.ts";
import type { Features } from "../../../helper/ridge.ts";

/** An action in the state in which it was taken. */
export interface JudgedStep {
  /** The observation before the action. */
  readonly seen: string;
  readonly action: string;
}

/** Words of observation and action in pairs, and both as a whole. */
const featuresOf = ({ seen, action }: JudgedStep): Features =>
  withIntercept({ ...crossedWords(seen, action), [`${seen} ⇒ ${action}`]: 1 });

/**
 * The judge of a domain: the probability that an action is right where it was taken, by logistic regression. Each fit starts at θ = 0 and
 * weighs right and wrong steps alike in total. Before the first fit every probability is ½.
 */
export const stepJudge =
  () =>
  (_random: Random): StatefulHelper<JudgedStep, number, number> => {
    let theta: LogisticWeights = new Map();
    return {
      async fit(rows) {
        const right = rows.filter(({ y }) => y > 0.5).length;
        const share = (y: number): number => rows.length / (2 * (y > 0.5 ? right : rows.length - right));
        const balanced = right > 0 && right < rows.length;
        theta = fitLogistic(
          rows.map(({ x, y, weight }) => ({
            x: featuresOf(x),
            y,
            weight: weight * (balanced ? share(y) : 1),
          })),
          new Map(),
        );
        return { rows: rows.length };
      },
      predict: async (xs) => xs.map((x) => sigmoid(oddsOf(theta, featuresOf(x)))),
      save: () => Object.fromEntries(theta),
      load(state) {
        theta = readWeights(state, "step judge");
      },
    };
  };
