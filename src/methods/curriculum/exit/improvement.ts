import type { Feedback } from "../../../core/slots.ts";
import { paid, type Trajectory } from "../../../core/types.ts";

/** Quality of an attempt before the turn at which this episode began: the rewards of the turns that it took over. 0 at a start. */
export const qualityBefore = (t: Trajectory): number =>
  paid({ ...t, turns: t.turns.slice(0, t.lineage?.turn ?? 0) });

/**
 * The share of what was still missing that an episode improved:
 *
 *     R = max(0, (Q − Q_prev) / (1 − Q_prev + 1e-6))
 *
 * Q: the sum of all its rewards, in [0, 1]; Q_prev: that of the turns that it took over. From the start, R = Q up to 1e-6.
 */
export function improvementOf(t: Trajectory): number {
  const before = qualityBefore(t);
  return Math.max(0, (paid(t) - before) / (1 - before + 1e-6));
}

/**
 * The improvement of each episode, on channel "outcome"; none for a failed one.
 * Paper: "Bootstrapping Task Spaces for Self-Improvement".
 */
export const improvement =
  (): Feedback =>
  async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .map((t) => ({
        kind: "reward",
        channel: "outcome",
        about: [{ trajectory: t.id }],
        value: improvementOf(t),
        source: "environment",
      }));
