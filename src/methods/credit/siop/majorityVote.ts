import type { Feedback } from "../../../core/slots.ts";

/** Settings of {@link majorityVote}. */
export interface MajorityVoteOptions {
  /** 1 for the largest cluster alone ("largest"), or each cluster's share of the answers ("share"). Default "largest". */
  readonly pays?: "largest" | "share";
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * The group's majority vote in place of a verifier: an attempt is rewarded by the cluster of its answer, as noted by
 * `answerClusters`. Of equally large clusters the earlier one counts as the largest. An attempt without an answer gets
 * 0; a failed one gets no reward.
 * Paper: "TTRL: Test-Time Reinforcement Learning".
 */
export function majorityVote({ pays = "largest", channel = "outcome" }: MajorityVoteOptions = {}): Feedback {
  return async (_ctx, { trajectories }, notes) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .map((t) => {
        const rank = notes["cluster.rank"]?.get(t.id)?.[0];
        const share = notes["cluster.share"]?.get(t.id)?.[0] ?? 0;
        const value = pays === "share" ? share : rank === 0 ? 1 : 0;
        return { kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "majority" };
      });
}
