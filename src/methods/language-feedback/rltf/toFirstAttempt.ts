import { signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";

/** Settings of {@link toFirstAttempt}. */
export interface ToFirstAttemptOptions {
  /** γ, discount of the retry's reward for the first attempt. Default 1. */
  readonly discount?: number;
  /** A separate channel, so that the first attempt's own reward stays distinguishable. Default "retry". */
  readonly channel?: string;
}

/**
 * Credits a retry's reward to its first attempt as well, as in an episode of two turns:
 *
 *     return of the first attempt = r0 + γ r1        the first term from another credit, such as `toTrajectory`
 *
 * Every signal with a value counts; preferences have none. If a retry occurs both with and without its advice, only the
 * one with advice, as played, counts. A first attempt without a retry gets no such credit.
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
