import { byPlace, byTrajectory } from "../../../common/tokens/tokenRanges.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";

/** Settings of {@link longestPrefix}. */
export interface LongestPrefixOptions {
  /** Channel of the verified answers, 1 right and 0 wrong, and of the credits. Default "step". */
  readonly channel?: string;
}

/**
 * An answer in a chain counts only if every earlier one is right as well:
 *
 *     r[k] = Π_{j ≤ k} c[j]        c[j] in {0, 1}: the verifier's result for answer j
 *
 * Signals about turns, or spans within turns, are taken in order of position; each credit has its signal's position.
 * Signals without a number, and those about a whole trajectory, are left out.
 * Paper: "From Reasoning Chains to Verifiable Subproblems: Curriculum Reinforcement Learning Enables Credit Assignment
 * for LLM Reasoning".
 */
export function longestPrefix({ channel = "step" }: LongestPrefixOptions = {}): Credit {
  return ({ signals }) => {
    const verified = signals.flatMap((signal): Credited[] => {
      const value = signal.channel === channel ? signalValue(signal) : undefined;
      if (value === undefined) return [];
      return signal.about.filter((at) => at.turn !== undefined).map((at) => ({ at, value }));
    });
    const credits: Credited[] = [];
    for (const answers of byTrajectory(verified).values()) {
      let product = 1;
      for (const { at, value } of answers.toSorted((a, b) => byPlace(a.at, b.at))) {
        product *= value;
        credits.push({ at, value: product });
      }
    }
    return { [channel]: credits };
  };
}
