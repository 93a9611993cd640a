/** Navigation metrics: success, path efficiency, and recovery from a wrong first step. */
import { mean } from "../../../common/statistics/statistics.ts";

/** One episode of navigation. */
export interface Journey {
  readonly success: boolean;
  readonly steps: number;
  /** d*, steps of a shortest way. */
  readonly shortest: number;
  /** Whether the first step came no nearer to the goal. */
  readonly strayed: boolean;
}

export interface NavigationScores {
  readonly success: number;
  /** Success weighted by path length. */
  readonly spl: number;
  /** Success rate of the episodes with a wrong first step; NaN without any. */
  readonly recovery: number;
}

/**
 * Means over episodes; NaN of an empty list.
 *
 *     SPL = mean of success · d* / max(steps, d*)          recovery = P(success | the first step came no nearer)
 *
 * Papers: "On Evaluation of Embodied Navigation Agents"; "GUI Exploration Lab: Enhancing Screen Navigation in Agents via
 * Multi-Turn Reinforcement Learning".
 */
export function navigationScores(journeys: readonly Journey[]): NavigationScores {
  const rate = (of: readonly Journey[]): number => mean(of.map(({ success }) => (success ? 1 : 0)));
  return {
    success: rate(journeys),
    spl: mean(
      journeys.map(({ success, steps, shortest }) => (success ? shortest / Math.max(steps, shortest) : 0)),
    ),
    recovery: rate(journeys.filter(({ strayed }) => strayed)),
  };
}
