import type { Feedback } from "../../../core/slots.ts";

/** Settings of {@link partialMatch}. */
export interface PartialMatchOptions {
  /** What a query is worth that runs and reproduces nothing. Default 0.5. */
  readonly runs?: number;
  /** What one is worth that reproduces everything. Default 10. */
  readonly full?: number;
  /** Names of the environment's rewards: whether it ran, 1 or 0, and the share of wanted cells reproduced. */
  readonly names?: { readonly runs: string; readonly match: string };
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * What an episode's last query is worth, where part of the wanted table is worth part of the reward:
 *
 *     R = 0                          where it does not run
 *     R = max(runs, full · match)    where it does         match in [0, 1]: `cellMatch` of the two tables
 *
 * The paper pays `runs` at match 0 alone, so that a little of the table (below 0.05) would be worth less than nothing of
 * it; with the larger of the two the reward never falls as the match rises. One signal for each trajectory; none for a
 * failed one, nor where the last turn that was paid anything lacks either number.
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
