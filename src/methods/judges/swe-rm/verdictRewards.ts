import { type Able, evaluatorIn, totalScore } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/**
 * Reward of an attempt by its tests and a verifier's score s in [0, 1]:
 *
 *     R = 1 + s      the tests say resolved
 *         s − ½      the attempt is unfinished: a limit was reached
 *         s          otherwise
 *
 * An attempt that the tests accept is worth at least as much as any that they refuse.
 * Paper: "SWE-RM: Execution-free Feedback For Software Engineering Agents".
 */
export function hybridReward(t: Pick<Trajectory, "end">, s: number): number {
  if (t.end.kind === "truncated") return s - 0.5;
  return t.end.kind === "done" && t.end.success === true ? 1 + s : s;
}

/** Settings of {@link verdictRewards}. */
export interface VerdictRewardsOptions {
  /** Its score must lie in [0, 1]. */
  readonly verifier: Able<"score">;
  /** "hybrid": {@link hybridReward}. "score": the verifier's score alone, so that nothing has to be run. Default "hybrid". */
  readonly reward?: "hybrid" | "score";
}

/**
 * Rewards from tests and a verifier, one per attempt, on channel "outcome". Where the verifier fails there is no reward; failed episodes
 * get none either.
 */
export function verdictRewards({ verifier, reward = "hybrid" }: VerdictRewardsOptions): Feedback {
  return async (ctx, { trajectories }) => {
    const { score } = evaluatorIn(ctx, verifier);
    const signals = trajectories
      .filter((t) => t.end.kind !== "failed")
      .map(async (t): Promise<Signal[]> => {
        const scores = await score(t, ctx.random.split("verifier", t.id));
        if (!scores) return [];
        const s = totalScore(scores);
        const value = reward === "hybrid" ? hybridReward(t, s) : s;
        return [
          { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: verifier.name },
        ];
      });
    return (await Promise.all(signals)).flat();
  };
}
