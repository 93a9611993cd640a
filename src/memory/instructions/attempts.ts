/** Attempts that went badly, kept to learn from: those that earned least are looked at most. */
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

/** The buffer with further attempts: at most `capacity`, of which those that earned most leave first, and of equals the oldest. */
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

/** So many different attempts, each drawn with a chance in proportion to `exp(−reward / τ)`. */
export function drawnAttempts(
  buffer: readonly Attempt[],
  count: number,
  temperature: number,
  random: Random,
): readonly Attempt[] {
  // the largest of log-odds with Gumbel noise are a draw without replacement
  const keyed = buffer.map((attempt, i) => {
    const gumbel = -Math.log(-Math.log1p(-random.split("attempt", i).next()));
    return { attempt, key: -attempt.reward / temperature + gumbel };
  });
  return keyed
    .toSorted((a, b) => b.key - a.key)
    .slice(0, count)
    .map(({ attempt }) => attempt);
}
