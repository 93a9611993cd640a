/** How a policy's reward depends on its entropy, and how much a gradient step reduces the entropy. */
import { leastSquares } from "../../../common/statistics/statistics.ts";

/** A policy during training: entropy in nats, and its mean reward. */
export interface EntropyPoint {
  readonly entropy: number;
  readonly reward: number;
}

/** R = −a · exp(H) + b. */
export interface EntropyLaw {
  readonly a: number;
  readonly b: number;
  /** Reward predicted at zero entropy: b − a. */
  readonly ceiling: number;
  /** R²: share of the reward's variance that the law explains; NaN if the reward is constant. */
  readonly r2: number;
}

/**
 * Least-squares fit of R = −a · exp(H) + b. Fitted on early training, it predicts the final reward of training without
 * entropy control. All NaN with fewer than two different entropies.
 * Paper: "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models".
 */
export function fitEntropyLaw(points: readonly EntropyPoint[]): EntropyLaw {
  const xs = points.map((p) => Math.exp(p.entropy));
  const ys = points.map((p) => p.reward);
  const { slope, x0, y0, xy, yy } = leastSquares(xs, ys);
  const b = y0 - slope * x0;
  return { a: -slope, b, ceiling: b + slope, r2: yy > 0 ? (slope * xy) / yy : Number.NaN };
}

/**
 * First-order change of a softmax policy's entropy, in nats, by one step of exact policy gradient on its logits:
 *
 *     ΔH = −rate · Cov_{a ~ π}(ln π(a), u(a))      u = π(a) · A(a) for the plain gradient, A(a) for the natural one
 *
 * So likely actions of high advantage reduce entropy, unlikely ones raise it.
 * @param logp_W ln π of every action. @param advantage_W of every action, with mean 0 under π, which the plain gradient
 *   requires.
 * Paper: "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models".
 */
export function entropyChange(
  logp_W: ArrayLike<number>,
  advantage_W: ArrayLike<number>,
  rate: number,
  gradient: "plain" | "natural",
): number {
  let [logp, step, both] = [0, 0, 0];
  for (let w = 0; w < logp_W.length; w++) {
    const p = Math.exp(logp_W[w]!);
    const moved = (gradient === "plain" ? p : 1) * advantage_W[w]!;
    logp += p * logp_W[w]!;
    step += p * moved;
    both += p * logp_W[w]! * moved;
  }
  return -rate * (both - logp * step);
}
