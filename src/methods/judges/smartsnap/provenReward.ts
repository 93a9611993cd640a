import type { Ctx } from "../../../core/context.ts";
import type { Random } from "../../../core/random.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { type Submission, submissionOf } from "./evidence.ts";

/** What a judge says of a submission. Evidence can be valid and prove a failure; without valid evidence there is no success. */
export interface Proof {
  readonly success: boolean;
  readonly valid: boolean;
}

/** Judges what was handed in, and sees nothing else of the attempt. Undefined where it failed. */
export type EvidenceJudge = (
  ctx: Ctx,
  submitted: { readonly task: Task; readonly submission: Submission },
  random: Random,
) => Promise<Proof | undefined>;

/** Settings of {@link provenReward}. */
export interface ProvenRewardOptions {
  readonly judge: EvidenceJudge;
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
 * undefined without a vote.
 */
export function votedReward(votes: readonly Proof[], honest = 0): number | undefined {
  if (votes.length === 0) return undefined;
  const half = votes.length / 2;
  if (votes.filter(({ success, valid }) => success && valid).length > half) return 1;
  return votes.filter(({ valid }) => valid).length > half ? honest : -1;
}

/**
 * The reward of an agent that proves what it did, by a judge who sees the task, the agent's message and the observations that it chose:
 *
 *     R = R_v − 0.1 · max(|E| − 3, 0)          −1, and no judge is asked, where the submission is malformed
 *
 * The judge is asked N times at once; calls that fail do not count, and without any answer the attempt has no reward. On channel "outcome";
 * an attempt that failed gets none. Counts judge.calls and judge.failures.
 * Paper: "SmartSnap: Proactive Evidence Seeking for Self-Verifying Agents".
 */
export function provenReward(options: ProvenRewardOptions): Feedback {
  const { judge, votes = 3, free = 3, price = 0.1, honest = 0 } = options;
  return async (ctx, { trajectories }) => {
    const rewards = trajectories.map(async (t): Promise<readonly Signal[]> => {
      if (t.end.kind === "failed") return [];
      const submission = submissionOf(t);
      const rated = (value: number): readonly Signal[] => [
        { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "evidence" },
      ];
      if (!submission) return rated(-1);
      const task = ctx.task(t.task);
      const asked = Array.from({ length: votes }, (_, k) =>
        judge(ctx, { task, submission }, ctx.random.split("proof", t.id, k)),
      );
      const said = (await Promise.all(asked)).filter((one) => one !== undefined);
      ctx.count("judge.calls", votes);
      if (said.length < votes) ctx.count("judge.failures", votes - said.length);
      const value = votedReward(said, honest);
      return value === undefined ? [] : rated(value - price * Math.max(submission.shown.length - free, 0));
    });
    return (await Promise.all(rewards)).flat();
  };
}
