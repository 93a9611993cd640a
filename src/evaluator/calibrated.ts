/** A judge whose numbers are corrected by what people said of other replies. */
import { type Evaluator, totalScore } from "../core/evaluator.ts";
import type { Recalibration } from "./calibration.ts";

/**
 * The judge with each score, or each probability that the first of two items is better, corrected: by `isotonic`, or by
 * `atTemperature` with a `fittedTemperature`, fitted to labels on which it was asked before. A preference stays one: over both orders of a
 * pair, the corrected probabilities are averaged, P(a) = (c(p) + 1 − c(1 − p)) / 2, so that they add up to 1. What failed stays failed, and
 * what is no answer stays none: a score that is not finite, a preference that is no probability.
 * @param by fitted to scores for a judge that scores; for one that compares, to probabilities as they come in either order, since a
 *   judge with a preference for a place is not corrected by what the mean of both orders came to.
 */
export function calibrated<Item>(judge: Evaluator<Item>, by: Recalibration): Evaluator<Item> {
  const { score, compare } = judge;
  return {
    ...judge,
    name: `${judge.name}, calibrated`,
    ...(score && {
      score: async (items, call) =>
        (await score.call(judge, items, call))?.map((scores) => {
          const total = totalScore(scores);
          return { score: Number.isFinite(total) ? by(total) : total };
        }),
    }),
    ...(compare && {
      compare: async (first, second, call) => {
        const p = await compare.call(judge, first, second, call);
        return p !== undefined && p >= 0 && p <= 1 ? (by(p) + 1 - by(1 - p)) / 2 : p;
      },
    }),
  };
}
