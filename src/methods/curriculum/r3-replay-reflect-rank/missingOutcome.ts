import { succeeded, type Trajectory } from "../../../core/types.ts";
import type { Joining } from "../../../rollout/withReplay.ts";

/**
 * A group without a success gets up to `count` stored successes, one without a failure as many stored failures; a mixed group
 * gets nothing.
 * Paper: "R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning".
 */
export function missingOutcome(count: number): (group: readonly Trajectory[]) => Joining | undefined {
  return (group) => {
    const successes = group.filter(succeeded).length;
    if (successes === 0) return { outcome: "success", count, replaces: false };
    if (successes === group.length) return { outcome: "failure", count, replaces: false };
    return undefined;
  };
}
