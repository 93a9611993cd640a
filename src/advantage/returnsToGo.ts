import { mapById } from "../common/mapById.ts";
import { overTurns } from "../common/tokens/tokenRanges.ts";
import type { Advantage } from "../core/slots.ts";
import type { Id, Trajectory } from "../core/types.ts";
import { type ChannelOptions, creditsByTurn, leastDeviation, moments, onTop } from "./returns.ts";

/** Settings of {@link returnsToGo}. */
export interface ReturnsToGoOptions extends ChannelOptions {
  /** Discount factor γ per turn, in [0, 1]; with 0, only a turn's own reward counts. Default 1. */
  readonly discount?: number;
  /**
   * The baseline is the mean of a pool of returns: those at the same turn of its group ("turn") or of the whole batch
   * ("stage"), at all turns of its group ("group") or of the batch ("batch"), at turns of its group that began in the same
   * state of the environment ("state", by `Turn.stateKey`; a turn without one is its own pool), or no baseline ("none").
   * Default "turn".
   */
  readonly baseline?: "turn" | "stage" | "group" | "batch" | "state" | "none";
  /**
   * Excludes the turn itself from its baseline, which keeps the gradient unbiased however small the pool. In a pool of one
   * the baseline is 0. Default false.
   */
  readonly leaveOneOut?: boolean;
  /** Smallest pool for baseline "turn"; a smaller pool is replaced by the stage. Default 1. */
  readonly least?: number;
  /**
   * Divides by the deviation of the pool; without a baseline, by that of the group. Returns without a baseline whose
   * deviation is below the floor are unchanged. Default false.
   */
  readonly normalise?: boolean;
  /** Smallest deviation to divide by. Default 1e-4. */
  readonly floor?: number;
  /** Factor of the result: the weight of this estimator in a list of several. Default 1. */
  readonly weight?: number;
}

/**
 * The discounted return from each turn on, on the tokens of that turn.
 *
 *     G[k] = Σ_{j ≥ k} discount^(j − k) · r[j],   A[k] = G[k] − mean(pool)   (/ max(std, floor))
 *     leave one out:   A[k] = G[k] − mean(the others) = n/(n − 1) · (G[k] − mean(pool))
 *
 * Needs credits per turn; one about a whole trajectory counts at its last turn.
 * A trajectory without any credit is left out. A return that is alone in its pool gives 0, except with `leaveOneOut`.
 *
 * Papers: the same turn of a group, left out, in "Dr. Kernel: Reinforcement Learning Done Right for Triton Kernel
 * Generations"; stages and batches, normalised, in "MAPO: Mixed Advantage Policy Optimization for Long-Horizon
 * Multi-Turn Dialogue"; the same state of a group in "SLEA-RL: Step-Level Experience Augmented Reinforcement Learning for
 * Multi-Turn Agentic Training".
 */
export function returnsToGo(options: ReturnsToGoOptions = {}): Advantage<null> {
  const { discount = 1, baseline = "turn", least = 1, weight = 1 } = options;
  return {
    name: "returnsToGo",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const byId = mapById(annotated.trajectories);
      const rewards = creditsByTurn(annotated, options);
      const returns: { t: Trajectory; group: Id; toGo: Float64Array }[] = [];
      for (const unit of annotated.units) {
        for (const member of unit.members) {
          const t = byId.get(member);
          const toGo = rewards.get(member)?.slice(); // a trajectory may be a member of several units
          if (!t || !toGo) continue;
          for (let k = toGo.length - 2; k >= 0; k--) toGo[k]! += discount * toGo[k + 1]!;
          returns.push({ t, group: unit.group, toGo });
        }
      }
      const pooled = (key: Key): Map<string, Pool> => {
        const places = returns.flatMap(({ t, group, toGo }) =>
          [...toGo].map((g, k) => [key(group, k, t), g] as const),
        );
        const byKey = Map.groupBy(places, ([name]) => name);
        return new Map([...byKey].map(([name, of]) => [name, poolOf(of.map(([, g]) => g))]));
      };
      const pools = pooled(keys[baseline]);
      const stages = least > 1 ? pooled(keys.stage) : pools;
      const comparedAt = (group: Id, k: number, t: Trajectory): Pool => {
        const own = pools.get(keys[baseline](group, k, t))!;
        return baseline === "turn" && own.size < least ? stages.get(keys.stage(group, k, t))! : own;
      };
      const advantages = new Map<Id, Float32Array>();
      for (const { t, group, toGo } of returns) {
        const perTurn = toGo.map((g, k) => weight * against(g, comparedAt(group, k, t), options));
        advantages.set(t.id, overTurns(t, perTurn));
      }
      const dead = [...pools.values()].filter((p) => p.deviation === 0).length;
      const stats = pools.size > 0 ? { groups: pools.size, deadGroups: dead / pools.size } : { groups: 0 };
      return { advantages: onTop(advantages, soFar), next: null, stats };
    },
  };
}

/** Key of the pool of a return. Without a baseline, the group still gives the deviation. */
const keys: Readonly<Record<NonNullable<ReturnsToGoOptions["baseline"]>, Key>> = {
  turn: (group, k) => `${k} ${group}`,
  stage: (_group, k) => `${k}`,
  group: (group) => group,
  batch: () => "",
  state: (group, k, t) => JSON.stringify([group, t.turns[k]?.stateKey ?? [t.id, k]]),
  none: (group) => group,
};
type Key = (group: Id, k: number, t: Trajectory) => string;

interface Pool {
  readonly mean: number;
  readonly deviation: number;
  readonly size: number;
}

const poolOf = (values: readonly number[]): Pool => ({ ...moments(values), size: values.length });

/** One return relative to its pool. */
function against(g: number, { mean, deviation, size }: Pool, options: ReturnsToGoOptions): number {
  const { baseline = "turn", leaveOneOut = false, normalise = false, floor = leastDeviation } = options;
  if (baseline === "none") return normalise && deviation > floor ? g / deviation : g;
  if (leaveOneOut && size === 1) return g;
  const centred = deviation === 0 ? 0 : (g - mean) * (leaveOneOut ? size / (size - 1) : 1);
  return normalise ? centred / Math.max(deviation, floor) : centred;
}
