/** What off-policy estimates are made from: logged trajectories as numbers. */
import { WhetstoneError } from "../core/errors.ts";
import type { Id } from "../core/types.ts";

/** Predictions of a model of rewards, by turn: of everything still to come from there, discounted from there. */
export interface Predicted {
  /** q̂: after what was done in this turn. */
  readonly action: readonly number[];
  /** v̂ = E over the target's actions of q̂: before anything was done in this turn. */
  readonly state: readonly number[];
}

/** One logged trajectory. All lists have one number per turn, at least one turn. */
export interface Sample {
  /** What is independent of one another: the user, or the session where nobody is known. */
  readonly cluster: Id;
  /** Probability of what was done under the target policy, divided by that under the policy that did it. */
  readonly ratios: readonly number[];
  readonly rewards: readonly number[];
  readonly predicted?: Predicted;
}

/**
 * Ratio of one action from log-probabilities of its tokens: exp Σ (target − behaviour). The behaviour must be the
 * distribution really drawn from (temperature, top-p), not that at temperature 1.
 * @param target [tokens], nats. @param behaviour [tokens], nats.
 */
export function actionRatio(target: ArrayLike<number>, behaviour: ArrayLike<number>): number {
  if (target.length !== behaviour.length) {
    throw new WhetstoneError("shape.mismatch", {
      where: "actionRatio",
      got: `${target.length} and ${behaviour.length} log-probabilities`,
      expected: "one per token of the action on both sides",
      mend: "Score the very tokens that were sampled under the target.",
    });
  }
  let sum = 0;
  for (let i = 0; i < target.length; i++) sum += target[i]! - behaviour[i]!;
  return Math.exp(sum);
}

/**
 * The ratio of a version where versions were drawn: 1 / propensity where it answered, else 0. One draw is one turn: where
 * all turns of a session went to one version, the ratio stands at the first, and the others have 1.
 */
export function versionRatio(target: Id, answered: Id, propensity: number): number {
  return answered === target ? 1 / propensity : 0;
}

/** Feedback on a trajectory, or none. */
export interface Answer {
  /** Absent: no signal came. That is missing, not 0. */
  readonly reward?: number;
  /** Probability that a signal comes, given everything that both it and the reward depend on. Above 0. */
  readonly chance: number;
  /** Prediction of the reward, whether it came or not. With it the estimate is doubly robust in the answers too. */
  readonly predicted?: number;
}

/**
 * A trajectory whose reward is feedback that may not have come. Answering is one more decision, after the last turn: the
 * target is a world in which everybody answers, so its ratio is 1 / chance where an answer came and 0 where none did, and
 * its reward is what was answered. Every estimator then weighs by version and by answer together ("Recommendations as
 * Treatments: Debiasing Learning and Evaluation"). Assumes that silence is explained by what the chance was fitted on.
 */
export function withAnswer(sample: Sample, answer: Answer): Sample {
  const { reward, chance, predicted } = answer;
  const { predicted: before } = sample;
  return {
    cluster: sample.cluster,
    ratios: [...sample.ratios, reward === undefined ? 0 : 1 / chance],
    rewards: [...sample.rewards, reward ?? 0],
    ...(before !== undefined && predicted !== undefined
      ? { predicted: { action: [...before.action, predicted], state: [...before.state, predicted] } }
      : {}),
  };
}

/** Σ_t γ^t r_t of one trajectory. */
export function discountedReturn(rewards: readonly number[], discount = 1): number {
  return rewards.reduceRight((rest, reward) => reward + discount * rest, 0);
}

/** The weight of the whole trajectory: the product of its ratios. */
export function trajectoryWeight(sample: Sample): number {
  return sample.ratios.reduce((product, ratio) => product * ratio, 1);
}

/** @throws WhetstoneError where lists differ in length, a number is not finite, a ratio negative, or there is nothing. */
export function checkSamples(where: string, samples: readonly Sample[]): void {
  const refuse = (got: string, expected: string, mend: string): never => {
    throw new WhetstoneError("shape.mismatch", { where, got, expected, mend });
  };
  if (samples.length === 0) {
    refuse(
      "no trajectories",
      "at least one",
      "Estimate once something was logged in this time and by these versions.",
    );
  }
  samples.forEach((sample, i) => {
    const { ratios, rewards, predicted } = sample;
    const lists = [ratios, rewards, ...(predicted ? [predicted.action, predicted.state] : [])];
    if (ratios.length === 0 || lists.some((list) => list.length !== ratios.length)) {
      refuse(
        `lists of ${lists.map((list) => list.length).join(", ")} turns in trajectory ${i}`,
        "as many ratios as rewards and predictions, at least one",
        "Give every turn its ratio, its reward (0 where none is paid) and, if at all, both predictions.",
      );
    }
    const wrong = lists.flat().find((x) => !Number.isFinite(x)) ?? ratios.find((ratio) => ratio < 0);
    if (wrong !== undefined) {
      refuse(
        `${wrong} in trajectory ${i}`,
        "finite numbers, and ratios of 0 or more",
        "Look for propensities of 0: what was logged had a probability above 0.",
      );
    }
  });
}
