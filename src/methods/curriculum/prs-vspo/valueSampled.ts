import { groupStats, moments, scoredGroups, spread } from "../../../advantage/returns.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link valueSampled}. */
export interface ValueSampledOptions {
  /** a, exponent of a task's difficulty in its value. Default 1. */
  readonly difficulty?: number;
  /** s, exponent that smooths the number of draws. Default 0.5. */
  readonly smooth?: number;
  /** c, largest weight of a task, at least 1. Default 2. */
  readonly most?: number;
}

/** A group's mean and population deviation. */
export interface GroupMoments {
  readonly mean: number;
  readonly deviation: number;
}

/** v = (1 − μ)^a σ: difficulty times uncertainty. With rewards of 0 and 1 and a = 1 it is largest at μ = ¼. */
export const taskValue = ({ mean, deviation }: GroupMoments, a = 1): number =>
  Math.max(0, 1 - mean) ** a * deviation;

/**
 * How often each group counts: the places of the groups without a difference are drawn again, with replacement, among the others
 * in proportion to their values. 1 for a group that is not drawn again, 0 for one without a difference.
 */
export function drawnAgain(groups: readonly GroupMoments[], a: number, random: Random): number[] {
  const values = groups.map((group) => taskValue(group, a));
  const total = values.reduce((x, y) => x + y, 0);
  const counts = groups.map(({ deviation }) => Number(deviation > 0));
  const empty = counts.filter((count) => count === 0).length;
  if (total === 0) return counts;
  for (let draw = 0; draw < empty; draw++) {
    let left = random.next() * total;
    // rounding may leave a rest: the last group with a value gets it
    let at = values.findLastIndex((value) => value > 0);
    for (const [i, value] of values.entries()) {
      left -= value;
      if (left < 0) {
        at = i;
        break;
      }
    }
    counts[at]!++;
  }
  return counts;
}

/**
 * Group-relative advantages in which groups without a difference hand their places on:
 *
 *     K = groups with σ > 0;   v(q) = (1 − μ)^a σ;   |B| − |K| draws from K in proportion to v;   n[q] = 1 + draws of q
 *     w[q] = clip(n[q]^s, 1, c);   A[q, i] = w[q] (R[i] − μ) / (σ + 1e-6)
 *
 * μ and σ are those before the draws. A group enters the loss once, with its weight in place of n copies; those without a
 * difference stay with zeros, so that the loss is divided by all of the batch. Rewards belong into [0, 1]. The state counts
 * iterations, which the draws depend on.
 * Paper: "Enhancing Agentic RL with Progressive Reward Shaping and Value-based Sampling Policy Optimization".
 */
export function valueSampled(options: ValueSampledOptions = {}): Advantage<number> {
  const { difficulty = 1, smooth = 0.5, most = 2 } = options;
  return {
    name: "valueSampled",
    init: () => 0,
    apply: (annotated, iteration, soFar) => {
      const groups = scoredGroups(annotated, {});
      const scales = groups.map((group) => moments(group.map(({ value }) => value)));
      const counts = drawnAgain(scales, difficulty, randomStream("valueSampled").split(iteration));
      const values = new Map<Id, number>();
      groups.forEach((group, g) => {
        const { mean, deviation } = scales[g]!;
        const weight = Math.min(most, Math.max(1, counts[g]! ** smooth));
        for (const { unit, value } of group)
          values.set(unit.id, deviation === 0 ? 0 : (weight * (value - mean)) / (deviation + 1e-6));
      });
      return { advantages: spread(annotated, values, soFar), next: iteration + 1, stats: groupStats(groups) };
    },
  };
}
