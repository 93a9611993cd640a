import { type Able, evaluatorIn } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Message, Stats, Task, Trajectory } from "../../../core/types.ts";
import { type Submission, submissionOf } from "./evidence.ts";

/** Settings of {@link provenReward}. */
export interface ProvenRewardOptions {
  /** Scores `success` and `valid`, yes from ½: evidence may be valid and prove a failure. It is shown {@link shownToJudge} alone. */
  readonly judge: Able<"score">;
  /** What is handed in; undefined where it is malformed. Default {@link submissionOf}. */
  readonly submission?: (t: Trajectory) => Submission | undefined;
  /** N, how often the judge is asked. Default 3. */
  readonly votes?: number;
  /** Pieces of evidence that cost nothing. Default 3. */
  readonly free?: number;
  /** What each further piece costs. Default 0.1. */
  readonly price?: number;
  /** Reward of honest evidence of a failure. Default 0. */
  readonly honest?: number;
}

/**
 * R_v = 1 where more than half of the votes say success, else `honest` where more than half say that the evidence is valid, else −1;
 * undefined without a vote. A success without valid evidence is none.
 */
export function votedReward(votes: readonly Stats[], honest = 0): number | undefined {
  if (votes.length === 0) return undefined;
  const valid = votes.filter((vote) => (vote.valid ?? 0) >= 0.5);
  const successes = valid.filter((vote) => (vote.success ?? 0) >= 0.5);
  if (successes.length > votes.length / 2) return 1;
  return valid.length > votes.length / 2 ? honest : -1;
}

/** The task, the chosen observations as the environment wrote them, and the message, as an attempt of one turn. */
export function shownToJudge(t: Trajectory, { prompt }: Task, { shown, message }: Submission): Trajectory {
  const evidence = shown.map((content): Message => ({ role: "user", content }));
  const turns = t.turns.slice(-1).map((turn): Trajectory["turns"][number] => ({
    ...turn,
    prompt: [...prompt, ...evidence],
    action: { role: "assistant", content: message },
  }));
  return { ...t, turns };
}

/**
 * The reward of an agent that proves what it did, by a judge who sees the task, the agent's message and the observations that it chose:
 *
 *     R = R_v − price · max(|E| − free, 0)          −1, and no judge is asked, where the submission is malformed
 *
 * The judge is asked N times at once; calls that fail do not count, and without any answer the attempt has no reward. On channel "outcome";
 * an attempt that failed gets none. Paper: "SmartSnap: Proactive Evidence Seeking for Self-Verifying Agents".
 */
export function provenReward(options: ProvenRewardOptions): Feedback {
  const { judge, submission: read = submissionOf, votes = 3, free = 3, price = 0.1, honest = 0 } = options;
  return async (ctx, { trajectories }) => {
    const asking = evaluatorIn(ctx, judge);
    const rewards = trajectories.map(async (t): Promise<readonly Signal[]> => {
      if (t.end.kind === "failed") return [];
      const submission = read(t);
      const rated = (value: number): readonly Signal[] => [
        { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "evidence" },
      ];
      if (!submission) return rated(-1);
      const shown = shownToJudge(t, ctx.task(t.task), submission);
      const said = await Promise.all(
        Array.from({ length: votes }, (_, k) => asking.score(shown, ctx.random.split("proof", t.id, k))),
      );
      const known = said.filter((vote) => vote !== undefined);
      const value = votedReward(known, honest);
      return value === undefined ? [] : rated(value - price * Math.max(submission.shown.length - free, 0));
    });
    return (await Promise.all(rewards)).flat();
  };
}
