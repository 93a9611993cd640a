import { overTurns } from "../core/places.ts";
import type { Advantage } from "../core/slots.ts";
import type { Id, Trajectory } from "../core/words.ts";
import { type ChannelOptions, leastDeviation, moments, onTop } from "./returns.ts";

/** Settings of {@link returnsToGo}. */
export interface ReturnsToGoOptions extends ChannelOptions {
  /** Worth of a reward one turn later, in [0, 1]. Default 1. */
  readonly discount?: number;
  /** What a turn's return is compared with: its group's returns at the same turn, at all turns, or nothing. Default "turn". */
  readonly baseline?: "turn" | "group" | "none";
  /**
   * Divide by the deviation of what it is compared with, of its group without a baseline; returns that nothing is
   * taken off and that differ by less than the floor stay as they are. Default false.
   */
  readonly normalise?: boolean;
  /** Smallest deviation to divide by. Default 1e-4. */
  readonly floor?: number;
}

/**
 * The discounted return that follows each turn, on the tokens of that turn.
 *
 *     G[k] = Σ_{j ≥ k} discount^(j − k) · r[j],   A[k] = G[k] − mean(compared)   (/ max(std, floor))
 *
 * Needs credits per turn; one about a whole trajectory counts at its last turn.
 * A trajectory without any credit is left out. Compared with nobody, a return gives a zero.
 */
export function returnsToGo(options: ReturnsToGoOptions = {}): Advantage<null> {
  const { channels, discount = 1, baseline = "turn", normalise = false, floor = leastDeviation } = options;
  return {
    name: "returnsToGo",
    init: () => null,
    apply: (evidence, _state, soFar) => {
      const byId = new Map(evidence.trajectories.map((t) => [t.id, t]));
      const rewards = new Map<Id, Float64Array>();
      for (const [name, credits] of Object.entries(evidence.channels)) {
        if (!(channels?.includes(name) ?? true)) continue;
        for (const { at, value } of credits) {
          const t = byId.get(at.trajectory);
          if (!t) continue;
          const r = rewards.get(t.id) ?? new Float64Array(t.turns.length);
          rewards.set(t.id, r);
          const turn = at.turn ?? t.turns.length - 1;
          if (turn >= 0 && turn < r.length) r[turn]! += value;
        }
      }
      const returns: { t: Trajectory; group: Id; toGo: Float64Array }[] = [];
      for (const unit of evidence.units) {
        for (const member of unit.members) {
          const t = byId.get(member);
          const toGo = rewards.get(member)?.slice(); // a trajectory may be a member of several units
          if (!t || !toGo) continue;
          for (let k = toGo.length - 2; k >= 0; k--) toGo[k]! += discount * toGo[k + 1]!;
          returns.push({ t, group: unit.group, toGo });
        }
      }
      const key = (group: Id, k: number): string => (baseline === "turn" ? `${k} ${group}` : group);
      const compared = new Map<string, number[]>();
      for (const { group, toGo } of returns) {
        toGo.forEach((g, k) => {
          const list = compared.get(key(group, k));
          if (list) list.push(g);
          else compared.set(key(group, k), [g]);
        });
      }
      const scales = new Map([...compared].map(([name, values]) => [name, moments(values)]));
      const advantages = new Map<Id, Float32Array>();
      for (const { t, group, toGo } of returns) {
        const perTurn = toGo.map((g, k) => {
          const { mean, deviation } = scales.get(key(group, k)) ?? { mean: 0, deviation: 0 };
          if (baseline === "none") return normalise && deviation > floor ? g / deviation : g;
          const centred = deviation === 0 ? 0 : g - mean;
          return normalise ? centred / Math.max(deviation, floor) : centred;
        });
        advantages.set(t.id, overTurns(t, perTurn));
      }
      const dead = [...scales.values()].filter((s) => s.deviation === 0).length;
      const stats = scales.size > 0 ? { groups: scales.size, deadGroups: dead / scales.size } : { groups: 0 };
      return { advantages: onTop(advantages, soFar), next: null, stats };
    },
  };
}
