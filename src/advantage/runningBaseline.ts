import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/words.ts";
import { type ChannelOptions, groupStats, moments, scoredGroups, spread } from "./returns.ts";

/** Settings of {@link runningBaseline}. */
export interface RunningBaselineOptions extends ChannelOptions {
  /** Share of the old baseline that each iteration keeps, in [0, 1). Default 0.9. */
  readonly keep?: number;
}

/**
 * REINFORCE with an exponential moving average of past returns as its baseline. Unbiased: the baseline of an iteration
 * is made of earlier iterations alone. The first iteration has none and sees bare returns.
 *
 *     A[i] = R[i] − b,   then   b ← keep · b + (1 − keep) · mean(R)      the first mean is taken whole
 *
 * Paper: "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning".
 */
export function runningBaseline(
  options: RunningBaselineOptions = {},
): Advantage<{ readonly baseline: number | null }> {
  const { keep = 0.9 } = options;
  return {
    name: "runningBaseline",
    init: () => ({ baseline: null }),
    apply: (evidence, { baseline }, soFar) => {
      const groups = scoredGroups(evidence, options);
      const scored = groups.flat();
      const values = new Map<Id, number>(scored.map((s) => [s.unit.id, s.value - (baseline ?? 0)]));
      const stats = groupStats(groups);
      if (scored.length === 0)
        return { advantages: spread(evidence, values, soFar), next: { baseline }, stats };
      const { mean } = moments(scored.map((s) => s.value));
      const next = { baseline: baseline === null ? mean : keep * baseline + (1 - keep) * mean };
      return {
        advantages: spread(evidence, values, soFar),
        next,
        stats: { ...stats, baseline: baseline ?? 0 },
      };
    },
  };
}
