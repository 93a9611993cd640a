import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { leastDeviation, moments } from "./returns.ts";

/** Settings of {@link whitened}. */
export interface WhitenedOptions {
  /** Whether to subtract the mean; false only divides by the deviation. Default true. */
  readonly centre?: boolean;
  /** Smallest deviation to divide by, in the unit of the advantages. Default 1e-4. */
  readonly floor?: number;
}

/**
 * Normalises the advantages of the earlier estimators to mean 0 and deviation 1 over all action tokens of the batch.
 *
 *     A[a] ← (A[a] − mean(A)) / max(std(A), floor)          mean and std over the batch, divisor its tokens
 *
 * The divisor is n, the number of tokens; verl divides by n − 1 and adds 1e-8 to the variance, which is less than 1 % for
 * batches of a hundred tokens or more.
 *
 * Equal advantages become zeros, or are unchanged with `centre: false`. Without earlier estimators it does nothing.
 * Stats: mean and deviation before whitening.
 * Papers: "Proximal Policy Optimization Algorithms" (in its code); "REINFORCE++: Stabilizing Critic-Free Policy
 * Optimization with Global Advantage Normalization".
 */
export function whitened({ centre = true, floor = leastDeviation }: WhitenedOptions = {}): Advantage<null> {
  return {
    name: "whitened",
    init: () => null,
    apply: (_evidence, _state, soFar) => {
      const before = soFar ?? new Map<Id, Float32Array>();
      const { mean, deviation } = moments([...before.values()].flatMap((own) => [...own]));
      const middle = centre ? mean : 0;
      const unit = deviation === 0 ? 1 : Math.max(deviation, floor);
      const advantages = new Map([...before].map(([id, own]) => [id, own.map((a) => (a - middle) / unit)]));
      const stats = before.size > 0 ? { "advantage.mean": mean, "advantage.deviation": deviation } : {};
      return { advantages, next: null, stats };
    },
  };
}
