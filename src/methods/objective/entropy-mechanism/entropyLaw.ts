/** How a policy's reward hangs on its entropy, and how fast a step of learning takes that entropy away. */
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
  /** Reward that the law foretells where all entropy is spent: b − a. */
  readonly ceiling: number;
  /** Share of the reward's variance that the law explains; NaN where the reward never changed. */
  readonly r2: number;
}

/**
 * Least-squares fit of R = −a · exp(H) + b. Fitted on early training, it foretells where training without control of
 * the entropy ends. All NaN below two different entropies.
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
 * So likely actions of high advantage drain entropy, unlikely ones restore it.
 * @param logp_W ln π of every action. @param advantage_W of every action; a constant added to it changes nothing where
 *   its mean under π is 0, as the plain gradient asks.
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
