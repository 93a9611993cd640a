import { leastDeviation, moments, scoredUnits, spread } from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link scalarised}. */
export interface ScalarisedOptions {
  /** w ≥ 0, by channel; normalised to sum to 1. */
  readonly weights: Readonly<Record<string, number>>;
  /** Pool for standardising each objective: all units of the batch, or those of the group. Default "batch". */
  readonly pool?: "batch" | "group";
  /** Minimum values by channel. A unit below one of them gets the lowest value of its pool. Default: none. */
  readonly gates?: Readonly<Record<string, number>>;
  /** Smallest deviation to divide by, in the unit of the rewards. Default 1e-4. */
  readonly floor?: number;
}

/**
 * A weighted sum of several objectives, each standardised first, so that its weight does not depend on its unit:
 *
 *     z_k[i] = (r_k[i] − mean(r_k)) / max(std(r_k), floor)          over the pool, divisor its size
 *     A[i]   = Σ_k w_k z_k[i]                                       Σ w = 1
 *
 * A constant objective is 0 for all. A unit without a value on a channel gets that channel's mean, not 0; one without a
 * value on any weighted channel is left out. Below a gate, A[i] is the lowest of its pool: the constrained form, in which
 * no like compensates for an unsafe reply. Stats: `gated`, the share of units below a gate, if there are gates.
 * Paper: "Reinforcement Learning from User Feedback".
 */
export function scalarised(options: ScalarisedOptions): Advantage<null> {
  const { weights, pool = "batch", gates = {}, floor = leastDeviation } = options;
  const total = Object.values(weights).reduce((a, b) => a + b, 0);
  return {
    name: "scalarised",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const poolOf = new Map(annotated.units.map((u) => [u.id, pool === "batch" ? "" : u.group]));
      const mixed = new Map<Id, number>();
      for (const [channel, weight] of Object.entries(weights)) {
        const scored = scoredUnits(annotated, { channels: [channel] });
        for (const own of Map.groupBy(scored, ({ unit }) => poolOf.get(unit.id)).values()) {
          const { mean, deviation } = moments(own.map(({ value }) => value));
          for (const { unit, value } of own) {
            const z = (value - mean) / Math.max(deviation, floor);
            mixed.set(unit.id, (mixed.get(unit.id) ?? 0) + (weight / total) * z);
          }
        }
      }
      const below = new Set(
        Object.entries(gates).flatMap(([channel, least]) =>
          scoredUnits(annotated, { channels: [channel] }).flatMap(({ unit, value }) =>
            value < least ? [unit.id] : [],
          ),
        ),
      );
      const lowest = new Map<Id | undefined, number>();
      for (const [id, value] of mixed) {
        const key = poolOf.get(id);
        lowest.set(key, Math.min(value, lowest.get(key) ?? value));
      }
      for (const id of mixed.keys()) if (below.has(id)) mixed.set(id, lowest.get(poolOf.get(id))!);
      const gated = [...mixed.keys()].filter((id) => below.has(id)).length / mixed.size;
      const stats = Object.keys(gates).length > 0 && mixed.size > 0 ? { gated } : {};
      return { advantages: spread(annotated, mixed, soFar), next: null, stats };
    },
  };
}
