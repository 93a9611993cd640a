import type { Advantage, Advantages } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/** Settings of {@link overTurnMask}. */
export interface OverTurnMaskOptions {
  /** Limits that say nothing about an attempt when they cut it off. Default: turns and tokens. */
  readonly limits?: readonly ("turns" | "tokens" | "seconds")[];
}

/**
 * Takes what was cut off out of training: an attempt that ran into a limit has got no verdict. Stands behind an estimator
 * that compares all attempts, the cut ones among them with what they were paid.
 *
 *     A'[i] = A[i] where attempt i came to an end; else not trained on
 *
 * The comparison stays with all attempts: their low mean is the brake that keeps a policy from never coming to an end.
 * A group with fewer than two finished attempts is left out altogether. Since cut attempts are not in the batch, a loss
 * that is a mean over rows divides by the finished ones. Without an estimator before it there is nothing to mask.
 * Stats: `finished`, the share of attempts that came to an end.
 * Paper: "Mini-o3: Scaling Up Reasoning Patterns and Interaction Turns for Visual Search".
 */
export function overTurnMask({ limits = ["turns", "tokens"] }: OverTurnMaskOptions = {}): Advantage<null> {
  const isCut = ({ end }: Trajectory): boolean => end.kind === "truncated" && limits.includes(end.limit);
  return {
    name: "overTurnMask",
    init: () => null,
    apply: (evidence, _state, soFar) => {
      const byId = new Map(evidence.trajectories.map((t) => [t.id, t]));
      const isFinished = (members: readonly string[]): boolean =>
        members.every((id) => !isCut(byId.get(id)!));
      const kept: [string, Float32Array][] = [];
      let finished = 0;
      for (const group of Map.groupBy(evidence.units, (unit) => unit.group).values()) {
        const ended = group.filter((unit) => isFinished(unit.members));
        finished += ended.length;
        if (ended.length < 2) continue;
        for (const id of ended.flatMap((unit) => unit.members)) {
          const own = soFar?.get(id);
          if (own) kept.push([id, own]);
        }
      }
      const advantages: Advantages = new Map(kept);
      const { length } = evidence.units;
      return { advantages, next: null, stats: length > 0 ? { finished: finished / length } : {} };
    },
  };
}
