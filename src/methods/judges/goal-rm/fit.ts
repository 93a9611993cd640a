/** Fits a recurrent reward network to preferences and to its own futures. */
import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { Random } from "../../../core/random.ts";
import { adamSteps } from "../../../helper/rewardNetwork.ts";
import { goalContrast } from "./goalContrast.ts";
import {
  addRewardSlope,
  addStateGradient,
  initialRecurrent,
  type RecurrentSizes,
  rewardAt,
  statesOf,
} from "./recurrent.ts";

/** Two texts as tokens. States of the first `given` tokens, a request's, are no goals and see none. */
export interface TokenPair {
  readonly better: readonly number[];
  readonly worse: readonly number[];
  /** Default 0. */
  readonly given?: number;
  /** Probability that the label is wrong. Default 0. */
  readonly doubt?: number;
}

/** Settings of {@link fitGoalReward}. */
export interface GoalRewardOptions {
  /** Hidden units. Default 16. */
  readonly units?: number;
  /** Steps of Adam. Default 100. */
  readonly steps?: number;
  /** Pairs in a step. Default 16. */
  readonly batch?: number;
  /** Default 0.01. */
  readonly learningRate?: number;
  /** λ, weight of the contrast. Default 0.5. */
  readonly contrast?: number;
  /** T of the contrast. Default 0.3. */
  readonly temperature?: number;
}

export const sizesOf = (inputs: number, { units = 16 }: GoalRewardOptions): RecurrentSizes => ({
  inputs,
  units,
});

/**
 * L = mean over pairs of −ln σ(r(better) − r(worse)) + λ L_C, with r read from the last state; see `goalContrast`. In each step every
 * pair has one state i, one later state j = i + k with P(k) ∝ 2^−k, and one state l of the rejected text.
 */
export function fitGoalReward(
  inputs: number,
  pairs: readonly TokenPair[],
  random: Random,
  options: GoalRewardOptions = {},
): Float64Array {
  const { steps = 100, batch = 16, learningRate = 0.01, contrast = 0.5, temperature = 0.3 } = options;
  const sizes = sizesOf(inputs, options);
  const theta = initialRecurrent(sizes, random.split("weights"));
  adamSteps(theta, { steps, learningRate }, (gradient, step) => {
    const own = random.split("step", step);
    for (let n = 0; n < batch; n++) {
      const { better, worse, given = 0, doubt = 0 } = pairs[own.below(pairs.length)]!;
      const [good, bad] = [statesOf(theta, sizes, better), statesOf(theta, sizes, worse)];
      const [toGood, toBad] = [good, bad].map((states) =>
        states.map(({ length }) => new Float64Array(length)),
      );
      const by = rewardAt(theta, sizes, good.at(-1)!) - rewardAt(theta, sizes, bad.at(-1)!);
      const slope = (sigmoid(by) - (1 - doubt)) / batch;
      addRewardSlope(theta, sizes, good.at(-1)!, slope, gradient, toGood!.at(-1)!);
      addRewardSlope(theta, sizes, bad.at(-1)!, -slope, gradient, toBad!.at(-1)!);
      const at = momentsIn(good.length - given, bad.length - given, own);
      if (contrast > 0 && at) {
        const [i, j, l] = at.map((t) => t + given) as [number, number, number];
        const { byState, byFuture, byOther } = goalContrast(good[i]!, good[j]!, bad[l]!, temperature);
        const weight = contrast / batch;
        for (const [to, slopes] of [
          [toGood![i]!, byState],
          [toGood![j]!, byFuture],
          [toBad![l]!, byOther],
        ] as const)
          slopes.forEach((x, h) => void (to[h]! += weight * x));
      }
      addStateGradient(theta, sizes, better, good, toGood!, gradient);
      addStateGradient(theta, sizes, worse, bad, toBad!, gradient);
    }
  });
  return theta;
}

/** i, j > i and l; undefined where a reply is too short for them. */
export function momentsIn(
  good: number,
  bad: number,
  random: Random,
): readonly [i: number, j: number, l: number] | undefined {
  if (good < 2 || bad < 1) return undefined;
  const i = random.below(good - 1);
  let j = i + 1;
  while (j < good - 1 && random.next() < 0.5) j++;
  return [i, j, random.below(bad)];
}

/** G: mean of the last states of texts that are known to be good. */
export function goalState(
  theta: Float64Array,
  sizes: RecurrentSizes,
  good: readonly (readonly number[])[],
): Float64Array {
  const goal = new Float64Array(sizes.units);
  for (const tokens of good)
    statesOf(theta, sizes, tokens)
      .at(-1)!
      .forEach((x, h) => void (goal[h]! += x / good.length));
  return goal;
}
