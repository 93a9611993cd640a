import { type ChannelOptions, scoredUnits, spread } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link expertGate}. */
export interface ExpertGateOptions extends ChannelOptions {
  /** R̂: number of the policy's own successes from which a task needs no expert. Default 1. */
  readonly successes?: number;
  /** Least return that is a success, in the unit of the rewards. Default 1. */
  readonly threshold?: number;
  /** "hard": 1 or 0. "soft": falls linearly to 0 at `successes`. Default "hard". */
  readonly gate?: "hard" | "soft";
}

/**
 * Weight ξ of a demonstration, by the success of the policy's own attempts at its task:
 *
 *     n = number of sampled units of the task with R ≥ threshold
 *     ξ = 1[n < successes],   soft: max(0, 1 − n / successes)
 *
 * on every token of the task's demonstrated units; sampled ones are unchanged. A task without any attempt counts as one
 * without success. Stats: `expert`, the mean ξ over demonstrated units.
 * Paper: "MM-HELIX: Boosting Multimodal Long-Chain Reflective Reasoning with Holistic Platform and Adaptive Hybrid Policy
 * Optimization".
 */
export function expertGate(options: ExpertGateOptions = {}): Advantage<null> {
  const { successes = 1, threshold = 1, gate = "hard" } = options;
  const weight = (n: number): number =>
    gate === "hard" ? Number(n < successes) : Math.max(0, 1 - n / successes);
  return {
    name: "expertGate",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const byId = mapById(annotated.trajectories);
      const solved = new Map<Id, number>();
      for (const { unit, value } of scoredUnits(annotated, options)) {
        const t = byId.get(unit.members[0] ?? "");
        if (t && t.origin !== "demonstrated" && value >= threshold)
          solved.set(t.task, (solved.get(t.task) ?? 0) + 1);
      }
      const values = new Map<Id, number>();
      for (const unit of annotated.units) {
        const t = byId.get(unit.members[0] ?? "");
        if (t?.origin === "demonstrated") values.set(unit.id, weight(solved.get(t.task) ?? 0));
      }
      const mean = [...values.values()].reduce((sum, x) => sum + x / values.size, 0);
      return {
        advantages: spread(annotated, values, soFar),
        next: null,
        stats: values.size > 0 ? { expert: mean } : {},
      };
    },
  };
}
