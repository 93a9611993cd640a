import type { Feedback } from "../../../core/slots.ts";

/** Settings of {@link partialMatch}. */
export interface PartialMatchOptions {
  /** Reward of a query that runs and matches nothing. Default 0.5. */
  readonly runs?: number;
  /** Reward of a full match. Default 10. */
  readonly full?: number;
  /** Names of the environment's rewards: whether the query ran, 1 or 0, and the share of expected cells matched. */
  readonly names?: { readonly runs: string; readonly match: string };
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * Rewards an episode's last query, with partial credit for part of the expected table:
 *
 *     R = 0                          where it does not run
 *     R = max(runs, full · match)    where it does         match in [0, 1]: `cellMatch` of the two tables
 *
 * The paper gives `runs` only at match 0, so a match below 0.05 would earn less than none; with the larger of the two the
 * reward is monotone in the match. One signal per trajectory; none for a failed one, nor if the last rewarded turn lacks
 * either number.
 * Paper: "PaVeRL-SQL: Text-to-SQL via Partial-Match Rewards and Verbal Reinforcement Learning".
 */
export function partialMatch(options: PartialMatchOptions = {}): Feedback {
  const { runs = 0.5, full = 10, names = { runs: "runs", match: "match" }, channel = "outcome" } = options;
  return async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .flatMap((t) => {
        const last = t.turns.findLast(({ rewards }) => names.runs in rewards)?.rewards;
        const [ran, match] = [last?.[names.runs], last?.[names.match]];
        if (ran === undefined || match === undefined) return [];
        const value = ran > 0 ? Math.max(runs, full * match) : 0;
        return [{ kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "environment" }];
      });
}
