import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { type ChannelOptions, groupStats, scoredGroups, spread } from "./returns.ts";

/** Settings of {@link entropic}. */
export interface EntropicOptions extends ChannelOptions {
  /** Divergence of the reweighted group from the uniform one, in nats, that sets the temperature. Default ln 2. */
  readonly divergence?: number;
}

/** Largest inverse temperature: with ties at the top the divergence may be out of reach. */
const mostBeta = 1e6;

/**
 * Advantages that seek the best of a group instead of its mean. Each group gets the inverse temperature β at which the
 * distribution q has a fixed divergence from the uniform one, so that the scale of the rewards does not matter:
 *
 *     q[k] ∝ exp(β R[k]),   KL(q ‖ uniform) = ln 2
 *     e[k] = exp(β (R[k] − max R)),   Z[k] = (Σ_j e[j] − e[k]) / (K − 1),   A[k] = e[k] / (Z[k] + 1e-12) − 1
 *
 * A group of equal rewards, or of one member, gets 0. The advantages of a group do not add up to 0. Stats: those of every
 * group estimator, and `beta`, the mean of the finite ones.
 * Paper: "Learning to Discover at Test Time".
 */
export function entropic(options: EntropicOptions = {}): Advantage<null> {
  const { divergence = Math.log(2), ...channels } = options;
  return {
    name: "entropic",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, channels);
      const values = new Map<Id, number>();
      const betas: number[] = [];
      for (const group of groups) {
        const rewards = group.map(({ value }) => value);
        const beta = betaOf(rewards, divergence);
        if (beta > 0 && beta < mostBeta) betas.push(beta);
        const advantages = entropicAdvantages(rewards, beta);
        group.forEach(({ unit }, k) => void values.set(unit.id, advantages[k]!));
      }
      const stats = betas.length === 0 ? {} : { beta: betas.reduce((a, b) => a + b) / betas.length };
      return {
        advantages: spread(annotated, values, soFar),
        next: null,
        stats: { ...groupStats(groups), ...stats },
      };
    },
  };
}

/** The inverse temperature of a group, found by doubling and bisection; 0 where all rewards are equal. */
export function betaOf(rewards: readonly number[], divergence: number): number {
  if (rewards.length < 2 || rewards.every((r) => r === rewards[0])) return 0;
  let high = 1;
  while (divergenceAt(rewards, high) < divergence) {
    if (high >= mostBeta) return mostBeta;
    high *= 2;
  }
  let low = 0;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (divergenceAt(rewards, middle) < divergence) low = middle;
    else high = middle;
  }
  return high;
}

/** KL(q ‖ uniform) in nats, for q ∝ exp(β R). */
export function divergenceAt(rewards: readonly number[], beta: number): number {
  const top = Math.max(...rewards);
  const weights = rewards.map((r) => Math.exp(beta * (r - top)));
  const sum = weights.reduce((a, b) => a + b);
  return weights.reduce((kl, w) => (w === 0 ? kl : kl + (w / sum) * Math.log((w / sum) * rewards.length)), 0);
}

/** A[k] of {@link entropic} for a given β; zeros for fewer than two members and for β = 0. */
export function entropicAdvantages(rewards: readonly number[], beta: number): readonly number[] {
  if (rewards.length < 2 || beta === 0) return rewards.map(() => 0);
  const top = Math.max(...rewards);
  const weights = rewards.map((r) => Math.exp(beta * (r - top)));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((w) => w / ((sum - w) / (rewards.length - 1) + 1e-12) - 1);
}
