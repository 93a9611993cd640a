/** A return on the scale of its task, so that tasks can be averaged. */
import { WhetstoneError } from "../core/errors.ts";

/** Mean returns that a scale is fixed by, in the unit of the rewards, each above the one before. */
export interface ScaleMarks {
  /** Of random play, or the worst that can be. */
  readonly random: number;
  /** Of the data that everybody learns from. */
  readonly data: number;
  /** Of the best play known. */
  readonly best: number;
}

/**
 * 0 at random play, 50 at the data, 100 at the best, straight in between and beyond:
 *
 *     score = 50 (R − random)/(data − random)        R < data
 *     score = 50 + 50 (R − data)/(best − data)       otherwise
 *
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 * @throws WhetstoneError `option.range` where the marks do not rise.
 */
export function normalisedScore(value: number, { random, data, best }: ScaleMarks): number {
  if (!(random < data && data < best)) {
    throw new WhetstoneError("option.range", {
      where: "normalisedScore",
      got: `random ${random}, data ${data}, best ${best}`,
      expected: "random < data < best",
      fix: "Fix the scale by data that is better than random play and worse than the best.",
    });
  }
  return value < data
    ? (50 * (value - random)) / (data - random)
    : 50 + (50 * (value - data)) / (best - data);
}
