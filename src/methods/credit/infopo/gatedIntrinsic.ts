import { leastDeviation, moments, onTop, scoredGroups } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import { tokenRange, turnOffsets } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link gatedIntrinsic}. */
export interface GatedIntrinsicOptions {
  /** The channel of the intrinsic rewards, each about a turn. */
  readonly channel: string;
  /** Channels whose sum controls the gate. Default "outcome". */
  readonly outcome?: readonly string[];
  /** β: share of the intrinsic advantage. Default 0.1. */
  readonly weight?: number;
  /** Deviation of outcomes, in their unit, that closes the gate from 1/2 to 0.27. Default 0.05. */
  readonly temperature?: number;
  /** Subtract the mean of the non-zero rewards and divide by their deviation, or only divide by their root mean square. Default "mean". */
  readonly centre?: "mean" | "none";
}

/**
 * Adds an intrinsic advantage where a group's outcomes are alike; place it after the outcome's estimator in the list:
 *
 *     v = reward of the turn / its tokens, on each of them
 *     a = (v − mean) / std over the group's v ≠ 0;   0 where v = 0
 *     A ← A + β · σ(−std(outcomes of the group) / temperature) · a
 *
 * A trajectory without an outcome stays without an advantage. A group with one value, or equal ones, gets nothing.
 * The paper also bounds std(a) by the larger of 1 and the outcome advantages' deviation; after normalising it never
 * exceeds 1.
 * Paper: "InfoPO: Information-Driven Policy Optimization for User-Centric Agents".
 */
export function gatedIntrinsic(options: GatedIntrinsicOptions): Advantage<null> {
  const { channel, outcome = ["outcome"], weight = 0.1, temperature = 0.05, centre = "mean" } = options;
  return {
    name: "gatedIntrinsic",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const byId = mapById(annotated.trajectories);
      const credits = Map.groupBy(annotated.channels[channel] ?? [], ({ at }) => at.trajectory);
      const intrinsic = new Map<Id, Float32Array>();
      const gates = new Map<Id, number>();
      for (const group of scoredGroups(annotated, { channels: outcome })) {
        const gate = 1 / (1 + Math.exp(moments(group.map((s) => s.value)).deviation / temperature));
        const members = [...new Set(group.flatMap((s) => s.unit.members))];
        const values = members.flatMap((id) => {
          const t = byId.get(id);
          if (!t) return [];
          const offsets = turnOffsets(t);
          const perToken = new Float32Array(offsets[t.turns.length]!);
          for (const { at, value } of credits.get(id) ?? []) {
            const [from, to] = tokenRange(t, at);
            for (let a = from; a < to; a++) perToken[a]! += value / (to - from);
          }
          return [{ id, perToken }];
        });
        const present = values.flatMap(({ perToken }) => [...perToken].filter((v) => v !== 0));
        const { mean, deviation } = moments(present);
        const [middle, size] = centre === "mean" ? [mean, deviation] : [0, Math.hypot(mean, deviation)];
        for (const { id, perToken } of values) {
          const scaled = (v: number): number =>
            v === 0 || size === 0 ? 0 : (v - middle) / Math.max(size, leastDeviation);
          intrinsic.set(id, perToken.map(scaled));
          gates.set(id, gate);
        }
      }
      const made = new Map(
        [...intrinsic].map(([id, xs]) => [id, xs.map((a) => weight * gates.get(id)! * a)]),
      );
      const open = [...gates.values()];
      return {
        advantages: onTop(made, soFar),
        next: null,
        stats: open.length > 0 ? { gate: moments(open).mean } : {},
      };
    },
  };
}
