import { leastDeviation, moments, scoredUnits, spread } from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link scalarised}. */
export interface ScalarisedOptions {
  /** w, by channel, none below 0; their sum is brought to 1. */
  readonly weights: Readonly<Record<string, number>>;
  /** What each objective is compared with: all units of the batch, or those of its group. Default "batch". */
  readonly pool?: "batch" | "group";
  /** Least values by channel. A unit below one of them is worth as little as the worst one of its pool. Default: none. */
  readonly gates?: Readonly<Record<string, number>>;
  /** Smallest deviation to divide by, in the unit of the rewards. Default 1e-4. */
  readonly floor?: number;
}

/**
 * Several objectives mixed into one, each standardised by itself first, so that its weight does not depend on its unit:
 *
 *     z_k[i] = (r_k[i] − mean(r_k)) / max(std(r_k), floor)          over the pool, divisor its size
 *     A[i]   = Σ_k w_k z_k[i]                                       Σ w = 1
 *
 * An objective on which all agree is 0 for all. A unit that a channel says nothing about is at that channel's mean, not
 * at 0, and one that no weighted channel speaks of is left out. Where a gate is broken A[i] is the lowest of its pool:
 * the constrained form, in which no like makes up for a reply that is not safe. Stats: `gated`, the share of units below
 * a gate, where there are gates.
 * Paper: "Reinforcement Learning from User Feedback".
 */
export function scalarised(options: ScalarisedOptions): Advantage<null> {
  const { weights, pool = "batch", gates = {}, floor = leastDeviation } = options;
  const total = Object.values(weights).reduce((a, b) => a + b, 0);
  return {
    name: "scalarised",
    init: () => null,
    apply: (evidence, _state, soFar) => {
      const poolOf = new Map(evidence.units.map((u) => [u.id, pool === "batch" ? "" : u.group]));
      const mixed = new Map<Id, number>();
      for (const [channel, weight] of Object.entries(weights)) {
        const scored = scoredUnits(evidence, { channels: [channel] });
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
          scoredUnits(evidence, { channels: [channel] }).flatMap(({ unit, value }) =>
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
      return { advantages: spread(evidence, mixed, soFar), next: null, stats };
    },
  };
}
