import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { leastDeviation, moments } from "./returns.ts";

/** Settings of {@link whitened}. */
export interface WhitenedOptions {
  /** Whether to subtract the mean; false only divides by the deviation. Default true. */
  readonly centre?: boolean;
  /** Smallest deviation to divide by, in the unit of the advantages. Default 1e-4. */
  readonly floor?: number;
  /** The tokens that a mean and a deviation are taken over: those of the batch, or of each role by itself. Default "batch". */
  readonly per?: "batch" | "role";
}

/**
 * Normalises the advantages of the earlier estimators to mean 0 and deviation 1 over all action tokens of the batch, or of each role.
 *
 *     A[a] ← (A[a] − mean(A)) / max(std(A), floor)          mean and std over the batch or the role, divisor its tokens
 *
 * Roles that are paid on other scales need their own: in a common one, the mean of all gives the better paid role a positive
 * advantage for nothing.
 *
 * The divisor is n, the number of tokens; verl divides by n − 1 and adds 1e-8 to the variance, which is less than 1 % for
 * batches of a hundred tokens or more.
 *
 * Equal advantages become zeros, or are unchanged with `centre: false`. Without earlier estimators it does nothing.
 * Stats: mean and deviation before whitening, over the batch.
 * Papers: "Proximal Policy Optimization Algorithms" (in its code); "REINFORCE++: Stabilizing Critic-Free Policy
 * Optimization with Global Advantage Normalization".
 */
export function whitened({
  centre = true,
  floor = leastDeviation,
  per = "batch",
}: WhitenedOptions = {}): Advantage<null> {
  const poolOf = (own: readonly Float32Array[]) => moments(own.flatMap((xs) => [...xs]));
  return {
    name: "whitened",
    init: () => null,
    apply: ({ trajectories }, _state, soFar) => {
      const before = soFar ?? new Map<Id, Float32Array>();
      const roleOf = new Map(per === "role" ? trajectories.map(({ id, role }) => [id, role]) : []);
      const byRole = Map.groupBy(before, ([id]) => roleOf.get(id));
      const pools = new Map([...byRole].map(([role, own]) => [role, poolOf(own.map(([, xs]) => xs))]));
      const advantages = new Map(
        [...before].map(([id, own]) => {
          const { mean, deviation } = pools.get(roleOf.get(id))!;
          const middle = centre ? mean : 0;
          const unit = deviation === 0 ? 1 : Math.max(deviation, floor);
          return [id, own.map((a) => (a - middle) / unit)] as const;
        }),
      );
      const { mean, deviation } = poolOf([...before.values()]);
      const stats = before.size > 0 ? { "advantage.mean": mean, "advantage.deviation": deviation } : {};
      return { advantages, next: null, stats };
    },
  };
}
