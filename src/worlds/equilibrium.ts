/** Exact solutions of preference games: win rates, exploitability, and the Nash policy. */
import type { Preferences } from "./preferenceGame.ts";

/** P(y ≻ q): win rate of every reply against one drawn from q, [replies]. */
export function winRates(prefers: Preferences, q: ArrayLike<number>): Float64Array {
  return Float64Array.from(prefers, (row) => row.reduce((sum, p, j) => sum + p * q[j]!, 0));
}

/** P(π ≻ q): probability that a reply drawn from π is preferred to one drawn from q. */
export function winRate(prefers: Preferences, policy: ArrayLike<number>, q: ArrayLike<number>): number {
  return winRates(prefers, q).reduce((sum, p, i) => sum + p * policy[i]!, 0);
}

/** Exploitability: max_y P(y ≻ π) − 1/2, in [0, 1/2]; 0 at the Nash policy of the unregularised game. */
export function exploitability(prefers: Preferences, policy: ArrayLike<number>): number {
  return Math.max(...winRates(prefers, policy)) - 0.5;
}

/** KL(p ‖ q) in nats. */
export function divergence(p: ArrayLike<number>, q: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < p.length; i++) if (p[i]! > 0) sum += p[i]! * Math.log(p[i]! / q[i]!);
  return sum;
}

/** Probabilities from logits. */
export function softmax(logits: ArrayLike<number>): Float64Array {
  const xs = Float64Array.from(logits);
  const top = xs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = xs.map((x) => Math.exp(x - top));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / sum);
}

/**
 * The Nash policy of the game P(π ≻ π′) − τ KL(π ‖ μ) + τ KL(π′ ‖ μ), by mirror prox with step 2τ. The divergence from it
 * falls by a factor of at least 1 + 2τ per round; it stops when no log-probability changes by 1e-12 in a round.
 * @param reference μ, all entries > 0. @param tau τ > 0. Smaller values approximate the unregularised game better, and converge more slowly.
 */
export function regularisedNash(
  prefers: Preferences,
  reference: ArrayLike<number>,
  tau: number,
): Float64Array {
  const logs = (p: ArrayLike<number>): Float64Array => Float64Array.from(p, Math.log);
  const log_mu = logs(reference);
  let log_pi = log_mu;
  const step = (against: Float64Array): Float64Array => {
    const wins = winRates(prefers, softmax(against));
    return logs(softmax(log_pi.map((x, i) => (2 * tau * log_mu[i]! + x + 2 * wins[i]!) / (1 + 2 * tau))));
  };
  for (let round = 0; round < 40 / tau + 100; round++) {
    const next = step(step(log_pi));
    const moved = next.reduce((most, x, i) => Math.max(most, Math.abs(x - log_pi[i]!)), 0);
    log_pi = next;
    if (moved < 1e-12) break;
  }
  return softmax(log_pi);
}
