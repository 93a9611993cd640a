import type { Feedback } from "../../../core/slots.ts";

/** Settings of {@link milestones}. */
export interface MilestonesOptions {
  /** Patterns that the output of a run contains once a milestone is reached; each counts once. Default: none. */
  readonly patterns?: readonly RegExp[];
  /** The named reward of a valid submission. Default "outcome". */
  readonly reward?: string;
  /** Reward of an episode without a valid submission, before milestones. Default −10. */
  readonly failure?: number;
  /** What each milestone of such an episode adds. Default 0.1. */
  readonly each?: number;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * The score of a submission, or otherwise the milestones reached, on a much smaller scale:
 *
 *     R = Σ_turns reward                                   where any turn was paid one
 *     R = failure + each · #{patterns found in the output}      otherwise
 *
 * The output is the environment's messages about the actions. The trained policy must not control these prints, or it
 * learns to print milestones instead of reaching them. One signal per trajectory; failed episodes get none.
 * Paper: "Reinforcement Learning for Machine Learning Engineering Agents".
 */
export function milestones(options: MilestonesOptions = {}): Feedback {
  const { patterns = [], reward = "outcome", failure = -10, each = 0.1, channel = "outcome" } = options;
  return async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .map((t) => {
        const paid = t.turns.flatMap(({ rewards }) => rewards[reward] ?? []);
        const output = t.turns.map(({ text = "" }) => text).join("\n");
        // unlike `test`, `search` ignores `lastIndex` of a global pattern
        const reached = patterns.filter((pattern) => output.search(pattern) >= 0).length;
        const value = paid.length > 0 ? paid.reduce((a, b) => a + b, 0) : failure + each * reached;
        return { kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "environment" };
      });
}
