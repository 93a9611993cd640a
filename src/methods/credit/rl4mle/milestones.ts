import type { Feedback } from "../../../core/slots.ts";

/** Settings of {@link milestones}. */
export interface MilestonesOptions {
  /** What the output of a run shows once a milestone is reached; each counts once. Default: none. */
  readonly patterns?: readonly RegExp[];
  /** The named reward of a valid submission. Default "outcome". */
  readonly reward?: string;
  /** What an episode without a valid submission is worth before milestones. Default −10. */
  readonly failure?: number;
  /** What each milestone of such an episode adds. Default 0.1. */
  readonly each?: number;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * The score of a submission, or else how far a program came, on a much smaller scale:
 *
 *     R = Σ_turns reward                                   where any turn was paid one
 *     R = failure + each · #{patterns found in the output}      otherwise
 *
 * The output is what the environment said about the actions. Its prints must not be the trained policy's own to write,
 * or it prints milestones instead of reaching them. One signal per trajectory; failed episodes get none.
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
        // search ignores where a global pattern stopped last time
        const reached = patterns.filter((pattern) => output.search(pattern) >= 0).length;
        const value = paid.length > 0 ? paid.reduce((a, b) => a + b, 0) : failure + each * reached;
        return { kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "environment" };
      });
}
