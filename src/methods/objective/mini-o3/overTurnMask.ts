import { mapById } from "../../../common/mapById.ts";
import type { Advantage, Advantages } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/** Settings of {@link overTurnMask}. */
export interface OverTurnMaskOptions {
  /** Limits whose truncation masks an attempt. Default: turns and tokens. */
  readonly limits?: readonly ("turns" | "tokens" | "seconds")[];
}

/**
 * Masks truncated attempts, which have no outcome. Place it after an estimator that compares all attempts, including the
 * truncated ones with their rewards.
 *
 *     A'[i] = A[i] if attempt i finished; otherwise not trained on
 *
 * The group's mean still includes all attempts: the low mean keeps the policy from never finishing. A group with fewer
 * than two finished attempts is left out. Since truncated attempts are not in the batch, a loss that is a mean over rows
 * divides by the finished ones. Without an estimator before it there is nothing to mask.
 * Stats: `finished`, the share of finished attempts.
 * Paper: "Mini-o3: Scaling Up Reasoning Patterns and Interaction Turns for Visual Search".
 */
export function overTurnMask({ limits = ["turns", "tokens"] }: OverTurnMaskOptions = {}): Advantage<null> {
  const isCut = ({ end }: Trajectory): boolean => end.kind === "truncated" && limits.includes(end.limit);
  return {
    name: "overTurnMask",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const byId = mapById(annotated.trajectories);
      const isFinished = (members: readonly string[]): boolean =>
        members.every((id) => !isCut(byId.get(id)!));
      const kept: [string, Float32Array][] = [];
      let finished = 0;
      for (const group of Map.groupBy(annotated.units, (unit) => unit.group).values()) {
        const ended = group.filter((unit) => isFinished(unit.members));
        finished += ended.length;
        if (ended.length < 2) continue;
        for (const id of ended.flatMap((unit) => unit.members)) {
          const own = soFar?.get(id);
          if (own) kept.push([id, own]);
        }
      }
      const advantages: Advantages = new Map(kept);
      const { length } = annotated.units;
      return { advantages, next: null, stats: length > 0 ? { finished: finished / length } : {} };
    },
  };
}
