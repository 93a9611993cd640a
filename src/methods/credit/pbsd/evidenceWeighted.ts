import { leastDeviation, moments } from "../../../advantage/returns.ts";
import { turnOffsets } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link evidenceWeighted}. */
export interface EvidenceWeightedOptions {
  /** Channel of the turns' evidence for the right outcome. */
  readonly channel: string;
  /** Standard deviations of evidence that change a weight by a factor of e. Default 1. */
  readonly temperature?: number;
  /** Largest weight before rescaling; its inverse is the smallest. Default 2. */
  readonly limit?: number;
}

/**
 * Redistributes the advantages so far over the turns by evidence; place it after another estimator in the list:
 *
 *     z[k] = (e[k] − mean) / std                 over all turns of the group that have evidence
 *     w[k] = clamp(exp(sign(A) z[k] / temperature), 1/limit, limit)
 *     A[k] ← w[k] A / mean of w over the trajectory's tokens
 *
 * Supporting turns get more credit for a success and less blame for a failure; a trajectory's total is unchanged. A turn
 * without evidence, and every turn of a group of equal evidence, has z = 0. Advantages of 0 stay 0: a group with uniform
 * outcomes gets no gradient from this.
 * Paper: "PBSD: Privileged Bayesian Self-Distillation for Long-Horizon Credit Assignment".
 */
export function evidenceWeighted(options: EvidenceWeightedOptions): Advantage<null> {
  const { channel, temperature = 1, limit = 2 } = options;
  return {
    name: "evidenceWeighted",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groupOf = new Map(
        annotated.units.flatMap(({ members, group }) => members.map((m) => [m, group])),
      );
      const credits = annotated.channels[channel] ?? [];
      const groups = Map.groupBy(credits, ({ at }) => groupOf.get(at.trajectory));
      const scales = new Map([...groups].map(([group, own]) => [group, moments(own.map((c) => c.value))]));
      const scores = new Map<Id, Map<number, number>>();
      for (const { at, value } of credits) {
        if (at.turn === undefined) continue;
        const { mean, deviation } = scales.get(groupOf.get(at.trajectory))!;
        const own = scores.get(at.trajectory) ?? new Map<number, number>();
        scores.set(at.trajectory, own);
        own.set(at.turn, deviation === 0 ? 0 : (value - mean) / Math.max(deviation, leastDeviation));
      }
      const advantages = new Map(soFar);
      for (const t of annotated.trajectories) {
        const before = soFar?.get(t.id);
        const own = scores.get(t.id);
        if (!before || !own) continue;
        const offsets = turnOffsets(t);
        const weights = new Float64Array(before.length);
        for (let k = 0; k < t.turns.length; k++) {
          for (let a = offsets[k]!; a < offsets[k + 1]!; a++) {
            const raw = Math.exp((Math.sign(before[a]!) * (own.get(k) ?? 0)) / temperature);
            weights[a] = Math.min(limit, Math.max(1 / limit, raw));
          }
        }
        const mean = weights.reduce((sum, w) => sum + w, 0) / weights.length;
        advantages.set(
          t.id,
          before.map((A, a) => (weights[a]! / mean) * A),
        );
      }
      return { advantages, next: null, stats: {} };
    },
  };
}
