import { moments } from "../../../advantage/returns.ts";
import { paid, type Trajectory } from "../../../core/types.ts";
import type { Joining } from "../../../rollout/withReplay.ts";

/** Whether an attempt is a success that is worth storing: it earned more than 0.1. */
export const isWorthKeeping = (t: Trajectory): boolean => paid(t) > 0.1;

/**
 * A group whose rewards have a deviation below 0.05 and a mean below 0.2 gets one stored success in the place of its first
 * attempt; others get nothing. Rewards are sums over the episode, in [0, 1].
 * Paper: "ARPO: End-to-End Policy Optimization for GUI Agents with Experience Replay".
 */
export function reviving(group: readonly Trajectory[]): Joining | undefined {
  const { mean, deviation } = moments(group.map(paid));
  return deviation < 0.05 && mean < 0.2 ? { outcome: "success", count: 1, replaces: true } : undefined;
}
