import { WhetstoneError } from "../../core/errors.ts";
import { leastSquares } from "./statistics.ts";

/**
 * Spearman's rank correlation of predictions and observations, in [−1, 1]. Ties have the mean of their ranks. NaN if all
 * values of either side are equal.
 */
export function rankCorrelation(predicted: readonly number[], observed: readonly number[]): number {
  if (predicted.length !== observed.length) {
    throw new WhetstoneError("shape.mismatch", {
      where: "rankCorrelation",
      got: `${predicted.length} and ${observed.length} numbers`,
      expected: "an observation for every prediction",
      fix: "Remove what was predicted and not observed.",
    });
  }
  const { xx, xy, yy } = leastSquares(ranksOf(predicted), ranksOf(observed));
  return xy / Math.sqrt(xx * yy);
}

/** 1 for the lowest; ties have the mean of their ranks. */
const ranksOf = (xs: readonly number[]): number[] =>
  xs.map((x) => {
    const [below, equal] = [xs.filter((other) => other < x).length, xs.filter((other) => other === x).length];
    return below + (equal + 1) / 2;
  });
