/** The input of off-policy estimates: logged trajectories as numbers. */
import { WhetstoneError } from "../core/errors.ts";
import type { Id } from "../core/types.ts";

/** Predictions of a reward model, by turn: of the return from that turn on, discounted to that turn. */
export interface Predicted {
  /** q̂: given the action of this turn. */
  readonly action: readonly number[];
  /** v̂ = E over the target's actions of q̂: before the action of this turn. */
  readonly state: readonly number[];
}

/** One logged trajectory. All lists have one number per turn, at least one turn. */
export interface Sample {
  /** The unit of independence: the user, or the session if the user is unknown. */
  readonly cluster: Id;
  /** Importance ratio of each action: its probability under the target policy over that under the logging policy. */
  readonly ratios: readonly number[];
  readonly rewards: readonly number[];
  readonly predicted?: Predicted;
}

/**
 * Importance ratio of one action from log-probabilities of its tokens: exp Σ (target − behaviour). The behaviour must be
 * the distribution actually sampled from (temperature, top-p), not that at temperature 1.
 * @param target [tokens], nats. @param behaviour [tokens], nats.
 */
export function actionRatio(target: ArrayLike<number>, behaviour: ArrayLike<number>): number {
  if (target.length !== behaviour.length) {
    throw new WhetstoneError("shape.mismatch", {
      where: "actionRatio",
      got: `${target.length} and ${behaviour.length} log-probabilities`,
      expected: "one per token of the action on both sides",
      fix: "Score exactly the sampled tokens under the target.",
    });
  }
  let sum = 0;
  for (let i = 0; i < target.length; i++) sum += target[i]! - behaviour[i]!;
  return Math.exp(sum);
}

/**
 * The ratio of a version that was assigned at random: 1 / propensity if it answered, else 0. One draw counts as one turn:
 * if all turns of a session went to one version, the ratio stands at the first turn, and the others have 1.
 */
export function versionRatio(target: Id, answered: Id, propensity: number): number {
  return answered === target ? 1 / propensity : 0;
}

/** Feedback on a trajectory, which may be missing. */
export interface Answer {
  /** Absent: no signal arrived. That is a missing value, not 0. */
  readonly reward?: number;
  /** Probability that a signal arrives, given everything that both it and the reward depend on. Above 0. */
  readonly chance: number;
  /** Prediction of the reward, whether or not it arrived. It makes the estimate doubly robust in the answers too. */
  readonly predicted?: number;
}

/**
 * A trajectory whose reward is feedback that may be missing. Answering counts as one more decision, after the last turn.
 * In the target world everybody answers, so its ratio is 1 / chance if an answer arrived and 0 if not, and its reward is
 * the answer. Every estimator then weights by version and by answer together ("Recommendations as Treatments: Debiasing
 * Learning and Evaluation"). Assumes that silence depends only on the variables that the chance was fitted on.
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

/** @throws WhetstoneError if there are no samples, lists differ in length, a number is not finite, or a ratio is negative. */
export function checkSamples(where: string, samples: readonly Sample[]): void {
  const refuse = (got: string, expected: string, fix: string): never => {
    throw new WhetstoneError("shape.mismatch", { where, got, expected, fix });
  };
  if (samples.length === 0) {
    refuse(
      "no trajectories",
      "at least one",
      "Estimate once these versions have logged traffic in this period.",
    );
  }
  samples.forEach((sample, i) => {
    const { ratios, rewards, predicted } = sample;
    const lists = [ratios, rewards, ...(predicted ? [predicted.action, predicted.state] : [])];
    if (ratios.length === 0 || lists.some((list) => list.length !== ratios.length)) {
      refuse(
        `lists of ${lists.map((list) => list.length).join(", ")} turns in trajectory ${i}`,
        "as many ratios as rewards and predictions, at least one",
        "Give every turn its ratio, its reward (0 if there is none) and both predictions or neither.",
      );
    }
    const wrong = lists.flat().find((x) => !Number.isFinite(x)) ?? ratios.find((ratio) => ratio < 0);
    if (wrong !== undefined) {
      refuse(
        `${wrong} in trajectory ${i}`,
        "finite numbers, and ratios of 0 or more",
        "Check for propensities of 0: every logged action had a probability above 0.",
      );
    }
  });
}
