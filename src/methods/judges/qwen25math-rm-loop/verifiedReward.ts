import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { type Id, succeeded, type Trajectory } from "../../../core/types.ts";

/**
 * Reward of an attempt by a verifier and a reward model's score r_m, any number:
 *
 *     r = σ(α r_m) + r_v − 1          r_v = 1 for a right attempt, else 0
 *
 * Right attempts lie in (0, 1), wrong ones in (−1, 0): no score lifts a wrong attempt above a right one.
 */
export const verified = (right: boolean, score: number, alpha: number): number =>
  sigmoid(alpha * score) + Number(right) - 1;

/** Scores of attempts, by id; an attempt without one is absent. */
export type ScoresOf = (ctx: Ctx, trajectories: readonly Trajectory[]) => Promise<ReadonlyMap<Id, number>>;

/**
 * Rewards from a verifier and a reward model, one per attempt, on channel "outcome"; see {@link verified}. An attempt without a score,
 * or with one that is no number, gets no reward: any number would rank it among its siblings. Failed episodes get none, either.
 * @param alpha α > 0.
 * Paper: "Qwen2.5-Math Technical Report: Toward Mathematical Expert Model via Self-Improvement".
 */
export function verifiedReward(scoresOf: ScoresOf, alpha: number): Feedback {
  return async (ctx, experience) => {
    const trajectories = experience.trajectories.filter((t) => t.end.kind !== "failed");
    const scores = await scoresOf(ctx, trajectories);
    return trajectories.flatMap((t): readonly Signal[] => {
      const score = scores.get(t.id);
      if (score === undefined || !Number.isFinite(score)) return [];
      const value = verified(succeeded(t), score, alpha);
      const about = [{ trajectory: t.id }];
      return [{ kind: "reward", channel: "outcome", about, value, source: "verifier and reward model" }];
    });
  };
}
