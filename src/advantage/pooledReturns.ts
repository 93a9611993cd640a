import { mapById } from "../common/mapById.ts";
import { overTurns } from "../common/tokens/tokenRanges.ts";
import type { Advantage, AnnotatedExperience } from "../core/slots.ts";
import type { Id, Trajectory } from "../core/types.ts";
import { type ChannelOptions, leastDeviation, moments, onTop } from "./returns.ts";

/** Settings of {@link pooledReturns}. */
export interface PooledReturnsOptions extends ChannelOptions {
  /** Pool for normalising a turn's reward: the rewards of its group at all turns, or at the same turn. Default "group". */
  readonly pool?: "group" | "turn";
  /** "apart" normalises each channel separately; "sum" adds the channels first. Default "apart". */
  readonly together?: "apart" | "sum";
  /** Discount factor γ per turn, in [0, 1]. Default 1. */
  readonly discount?: number;
  /** "sum" adds later rewards; "root" divides the sum by the square root of their number. Default "sum". */
  readonly accumulate?: "sum" | "root";
  /** Factor of the advantage. Default 1. */
  readonly weight?: number;
  /** β in [0, 1): gives the objective a clip width for each turn, in column {@link clipWidth}. Default: none. */
  readonly clipWidth?: number;
  /** Smallest deviation to divide by, in the unit of the rewards. Default 1e-4. */
  readonly floor?: number;
}

/** Column with the factor of each token's clip range, as objectives read it. */
export const clipWidth = "clip.width";

/**
 * Rewards per turn, normalised before they are added up to returns.
 *
 *     z[k] = (r[k] − mean(pool)) / max(std(pool), floor)
 *     A[k] = weight · Σ_{j ≥ k} discount^(j − k) · z[j]   (/ √n[k], n[k]: number of turns j ≥ k with a reward)
 *     clip.width[k] = 1 + β (2 σ(z[k]) − 1)
 *
 * A pool is one group and channel, and with `pool: "turn"` one turn index; a pool of one, or of equal rewards, gives zeros.
 * A turn without reward adds nothing and belongs to no pool; its clip has width 1. Rewards about a whole trajectory count
 * at its last turn. A trajectory without any reward is left out.
 * Papers: "Information Gain-based Policy Optimization: A Simple and Effective Approach for Multi-Turn LLM Agents";
 * root and clip: "A^2TGPO: Agentic Turn-Group Policy Optimization with Adaptive Turn-level Clipping".
 */
export function pooledReturns(options: PooledReturnsOptions = {}): Advantage<null> {
  const { pool = "group", weight = 1, clipWidth: beta, floor = leastDeviation } = options;
  return {
    name: "pooledReturns",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const rewards = turnRewards(annotated, options);
      const keyOf = ({ channel, group, turn }: TurnReward): string =>
        JSON.stringify(pool === "turn" ? [channel, group, turn] : [channel, group]);
      const pools = Map.groupBy(rewards, keyOf);
      const scores = new Map<Trajectory, { z: Float64Array; known: Uint8Array }>();
      let dead = 0;
      for (const members of pools.values()) {
        const { mean, deviation } = moments(members.map((m) => m.value));
        if (deviation === 0) dead++;
        for (const { trajectory, turn, value } of members) {
          const length = trajectory.turns.length;
          const own = scores.get(trajectory) ?? {
            z: new Float64Array(length),
            known: new Uint8Array(length),
          };
          scores.set(trajectory, own);
          own.z[turn]! += deviation === 0 ? 0 : (value - mean) / Math.max(deviation, floor);
          own.known[turn] = 1;
        }
      }
      const advantages = new Map<Id, Float32Array>();
      const widths = new Map<Id, Float32Array>();
      for (const [t, { z, known }] of scores) {
        const perTurn = returnsOf(z, known, options).map((sum) => weight * sum);
        advantages.set(t.id, overTurns(t, perTurn));
        if (beta === undefined) continue;
        const perClip = z.map((x) => 1 + beta * (2 / (1 + Math.exp(-x)) - 1));
        widths.set(t.id, overTurns(t, perClip));
      }
      const stats = { pools: pools.size, ...(pools.size > 0 && { deadPools: dead / pools.size }) };
      return {
        advantages: onTop(advantages, soFar),
        next: null,
        stats,
        ...(beta !== undefined && { columns: { [clipWidth]: widths } }),
      };
    },
  };
}

/** Discounted return from each turn on. @param known 1 where a turn has a score; only those count as terms. */
function returnsOf(z: Float64Array, known: Uint8Array, options: PooledReturnsOptions): Float64Array {
  const { discount = 1, accumulate = "sum" } = options;
  const sums = z.slice();
  const terms = Float64Array.from(known);
  for (let k = z.length - 2; k >= 0; k--) {
    sums[k]! += discount * sums[k + 1]!;
    terms[k]! += terms[k + 1]!;
  }
  return accumulate === "sum" ? sums : sums.map((sum, k) => sum / Math.sqrt(Math.max(1, terms[k]!)));
}

interface TurnReward {
  readonly channel: string;
  readonly group: Id;
  readonly trajectory: Trajectory;
  readonly turn: number;
  readonly value: number;
}

/** The rewards of each turn of the units' trajectories, by channel or summed. */
function turnRewards(
  annotated: AnnotatedExperience,
  { channels, together = "apart" }: PooledReturnsOptions,
): TurnReward[] {
  const byId = mapById(annotated.trajectories);
  const groupOf = new Map(annotated.units.flatMap(({ members, group }) => members.map((m) => [m, group])));
  const sums = new Map<string, TurnReward>();
  for (const [name, credits] of Object.entries(annotated.channels)) {
    if (!(channels?.includes(name) ?? true)) continue;
    for (const { at, value } of credits) {
      const trajectory = byId.get(at.trajectory);
      const group = groupOf.get(at.trajectory);
      if (!trajectory || group === undefined) continue;
      const turn = at.turn ?? trajectory.turns.length - 1;
      if (turn < 0 || turn >= trajectory.turns.length) continue;
      const channel = together === "sum" ? "" : name;
      const key = JSON.stringify([channel, trajectory.id, turn]);
      const before = sums.get(key)?.value ?? 0;
      sums.set(key, { channel, group, trajectory, turn, value: before + value });
    }
  }
  return [...sums.values()];
}
