import { signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";

/** Settings of {@link toFirstAttempt}. */
export interface ToFirstAttemptOptions {
  /** γ, worth of the retry's reward to the first attempt. Default 1. */
  readonly discount?: number;
  /** A channel of its own, so that what the first attempt earned by itself can still be told apart. Default "retry". */
  readonly channel?: string;
}

/**
 * What a retry was paid counts for the attempt that it retries as well, as in an episode of two turns:
 *
 *     return of the first attempt = r0 + γ r1        the first term from another credit, such as `toTrajectory`
 *
 * Every signal that carries a number counts; preferences carry none. Of a retry as it was played and the same retry
 * without its advice only the first counts. A first attempt that was not tried again gets nothing.
 * Paper: "Expanding the Capabilities of Reinforcement Learning via Text Feedback".
 */
export function toFirstAttempt({ discount = 1, channel = "retry" }: ToFirstAttemptOptions = {}): Credit {
  return ({ signals, trajectories }) => {
    const firstOf = new Map(
      trajectories.flatMap(({ id, lineage }) => (lineage?.why === "retry" ? [[id, lineage.parent]] : [])),
    );
    const credits = signals.flatMap((signal): readonly Credited[] => {
      const value = signalValue(signal);
      if (value === undefined || signal.kind === "preference") return [];
      return signal.about.flatMap(({ trajectory }) => {
        const first = firstOf.get(trajectory);
        return first === undefined ? [] : [{ at: { trajectory: first }, value: discount * value }];
      });
    });
    return { [channel]: credits };
  };
}
