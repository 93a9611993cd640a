import { overTurns } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Turn } from "../../../core/types.ts";

/** Settings of {@link durationWeighted}. */
export interface DurationWeightedOptions {
  /** Duration of an action; undefined if unknown. Default: its reward named `seconds`. */
  readonly seconds?: (turn: Turn) => number | undefined;
}

/**
 * Multiplies the advantages of the estimators before it in the list by each action's duration, relative to the batch:
 *
 *     A[k] ← A[k] · Δt[k] / mean(Δt)          mean over the actions whose duration is known
 *
 * It corrects the bias of collection under a deadline, where an action x arrives at a rate of about π(x) / Δt(x). If every
 * started episode is awaited, there is no such bias and this favours slow actions. Actions of unknown duration are
 * unchanged, and so are all actions if every duration is 0. The weights of known durations average to 1.
 * Stats: seconds, the mean duration.
 * Paper: "Reinforcement Learning for Machine Learning Engineering Agents".
 */
export function durationWeighted({ seconds = paidSeconds }: DurationWeightedOptions = {}): Advantage<null> {
  return {
    name: "durationWeighted",
    init: () => null,
    apply: ({ trajectories }, _state, soFar = new Map()) => {
      const weighed = trajectories.filter((t) => soFar.has(t.id));
      const known = weighed.flatMap(({ turns }) => turns.flatMap((turn) => seconds(turn) ?? []));
      const mean = known.reduce((sum, s) => sum + s / known.length, 0);
      const advantages = new Map(soFar);
      if (mean > 0) {
        for (const t of weighed) {
          const weight_A = overTurns(
            t,
            t.turns.map((turn) => (seconds(turn) ?? mean) / mean),
          );
          advantages.set(
            t.id,
            soFar.get(t.id)!.map((a: number, i: number) => a * weight_A[i]!),
          );
        }
      }
      return { advantages, next: null, stats: known.length > 0 ? { seconds: mean } : {} };
    },
  };
}

const paidSeconds = ({ rewards }: Turn): number | undefined => rewards.seconds;
