/** Buffer of bad attempts. Attempts with lower reward are sampled more often. */
import type { Random } from "../../core/random.ts";
import type { Id } from "../../core/types.ts";

export interface Attempt {
  readonly trajectory: Id;
  readonly task: Id;
  /** What was asked. */
  readonly asked: string;
  readonly instruction: string;
  readonly reply: string;
  readonly reward: number;
}

/** Adds attempts to the buffer, up to `capacity`. Attempts with the highest reward are evicted first; among equals, the oldest. */
export const remembered = (
  buffer: readonly Attempt[],
  fresh: readonly Attempt[],
  capacity: number,
): readonly Attempt[] =>
  [...buffer, ...fresh]
    .reverse()
    .toSorted((a, b) => a.reward - b.reward)
    .slice(0, capacity)
    .reverse();

/** Draws distinct attempts with probability proportional to `exp(−reward / τ)`. */
export function drawnAttempts(
  buffer: readonly Attempt[],
  count: number,
  temperature: number,
  random: Random,
): readonly Attempt[] {
  // Gumbel top-k: the largest perturbed log-probabilities are a draw without replacement
  const keyed = buffer.map((attempt, i) => {
    const gumbel = -Math.log(-Math.log1p(-random.split("attempt", i).next()));
    return { attempt, key: -attempt.reward / temperature + gumbel };
  });
  return keyed
    .toSorted((a, b) => b.key - a.key)
    .slice(0, count)
    .map(({ attempt }) => attempt);
}
