/** A judge whose numbers are corrected by what people said of other replies. */
import { type Evaluator, totalScore } from "../core/evaluator.ts";
import type { Recalibration } from "./calibration.ts";

/**
 * The judge with each score, or each probability that the first of two items is better, corrected: by `isotonic`, or by
 * `atTemperature` with a `fittedTemperature`, fitted to labels on which it was asked before. A preference stays one: over both orders of a
 * pair, the corrected probabilities are averaged, P(a) = (c(p) + 1 − c(1 − p)) / 2, so that they add up to 1. What failed stays failed.
 * @param by fitted to scores for a judge that scores, to probabilities for one that compares.
 */
export function calibrated<Item>(judge: Evaluator<Item>, by: Recalibration): Evaluator<Item> {
  const { score, compare } = judge;
  return {
    ...judge,
    name: `${judge.name}, calibrated`,
    ...(score && {
      score: async (items, call) =>
        (await score.call(judge, items, call))?.map((scores) => ({ score: by(totalScore(scores)) })),
    }),
    ...(compare && {
      compare: async (first, second, call) => {
        const p = await compare.call(judge, first, second, call);
        return p === undefined ? undefined : (by(p) + 1 - by(1 - p)) / 2;
      },
    }),
  };
}
