import {
  type ChannelOptions,
  groupStats,
  leastDeviation,
  moments,
  scoredGroups,
  spread,
} from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link asymmetric}. */
export interface AsymmetricOptions extends ChannelOptions {
  /** Success of the batch at which positive advantages have their full size. Default 1. */
  readonly full?: number;
  /** Mix of both focuses by the batch's success, or the plain group advantage. Default "mix". */
  readonly focus?: "mix" | "none";
}

/**
 * Group advantages without their two symmetries, depending on the batch's mean success m:
 *
 *     a = (R − p) / max(std, floor)            p the group's mean, R in [0, 1]
 *     A = (1 − m) · a / (2 (1 − √p)) + m · a / (2 √p)         easy questions first, hard ones later
 *     A ← A · min(1, m / full)   where A > 0                  positives are small while success is rare
 *
 * m is the mean of the groups' means, before groups without spread are left out.
 * Paper: "Unveiling Implicit Advantage Symmetry: Why GRPO Struggles with Exploration and Difficulty Adaptation".
 */
export function asymmetric(options: AsymmetricOptions = {}): Advantage<null> {
  const { full = 1, focus = "mix" } = options;
  return {
    name: "asymmetric",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, options);
      const all = groups.map((group) => moments(group.map((s) => s.value)));
      const m = all.reduce((sum, { mean }) => sum + mean / all.length, 0);
      const values = new Map<Id, number>();
      groups.forEach((group, g) => {
        const { mean, deviation } = all[g]!;
        const p = Math.min(1, Math.max(0, mean));
        for (const { unit, value } of group) {
          const a = deviation === 0 ? 0 : (value - mean) / Math.max(deviation, leastDeviation);
          const easy = a / (2 * (1 - Math.sqrt(p) + tiny));
          const hard = a / (2 * (Math.sqrt(p) + tiny));
          const A = focus === "mix" ? (1 - m) * easy + m * hard : a;
          values.set(unit.id, A > 0 ? A * Math.min(1, m / full) : A);
        }
      });
      const stats = { ...groupStats(groups), ...(groups.length > 0 && { progress: m }) };
      return { advantages: spread(annotated, values, soFar), next: null, stats };
    },
  };
}

/** Keeps the weights of groups that are all right or all wrong finite; their advantages are 0. */
const tiny = 1e-6;
