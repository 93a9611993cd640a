import { mapById } from "../../../common/mapById.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link entropyRanks}. */
export interface EntropyRanksOptions {
  /** Reward of the first rank, small beside that of a right answer. Default 0.2. */
  readonly most?: number;
  /** Share of the tokens, those of the highest entropy, whose mean is the peak, in (0, 1]. Default 0.2. */
  readonly share?: number;
}

/** The two numbers that attempts are ordered by, in nats. */
export interface Entropies {
  /** Mean over the tokens of highest entropy. */
  readonly peak: number;
  /** Mean over all tokens. */
  readonly mean: number;
}

/** Peak and mean of an attempt's entropies; undefined where the sampler returned none. @param share of the tokens in the peak. */
export function entropiesOf(t: Trajectory, share: number): Entropies | undefined {
  const nats = t.turns.flatMap(({ tokens }) => [...(tokens?.entropy ?? [])]).sort((a, b) => b - a);
  if (nats.length === 0) return undefined;
  const meanOf = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
  return { peak: meanOf(nats.slice(0, Math.max(1, Math.floor(share * nats.length)))), mean: meanOf(nats) };
}

/**
 * Rewards by rank, from 0 to `most`:
 *
 *     i dominates j iff peak[i] > peak[j] and mean[i] < mean[j];   S[i] = number of j that i dominates
 *     reward[i] = most · (1 − rank[i] / (N − 1))                   rank by S, highest first, from 0; ties share their mean rank
 *
 * Alone the reward is 0.
 */
export function rankRewards(of: readonly Entropies[], most: number): number[] {
  const N = of.length;
  if (N < 2) return of.map(() => 0);
  const dominated = of.map((a) => of.filter((b) => a.peak > b.peak && a.mean < b.mean).length);
  return dominated.map((own) => {
    const above = dominated.filter((other) => other > own).length;
    const equal = dominated.filter((other) => other === own).length;
    return most * (1 - (above + (equal - 1) / 2) / (N - 1));
  });
}

/**
 * Ranks the truncated attempts of groups without any success by their entropies: high where it matters, low elsewhere. The ranks
 * are rewards on channel "outcome", added to the environment's. Groups with a success, attempts that ended by themselves,
 * replayed ones and those without entropies get none.
 * Paper: "R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning".
 */
export function entropyRanks({ most = 0.2, share = 0.2 }: EntropyRanksOptions = {}): Feedback {
  return async (_ctx, { trajectories, units }) => {
    const byId = mapById(trajectories);
    return [...Map.groupBy(units, ({ group }) => group).values()].flatMap((group) => {
      const attempts = group.flatMap(({ members }) => members.flatMap((id) => byId.get(id) ?? []));
      if (attempts.some(succeeded)) return [];
      const ranked = attempts.flatMap((t) => {
        const entropies =
          t.end.kind === "truncated" && t.origin === "sampled" ? entropiesOf(t, share) : undefined;
        return entropies ? [{ t, entropies }] : [];
      });
      const rewards = rankRewards(
        ranked.map(({ entropies }) => entropies),
        most,
      );
      return ranked.map(({ t }, i) => ({
        kind: "reward" as const,
        channel: "outcome",
        about: [{ trajectory: t.id }],
        value: rewards[i]!,
        source: "entropy ranks",
      }));
    });
  };
}
