import { mapById } from "../../../common/mapById.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link outcomeBonus}. */
export interface OutcomeBonusOptions {
  /** Role that the outcome belongs to. Default "agent". */
  readonly role?: string;
  /** Channel of the outcome. Default "outcome". */
  readonly outcome?: string;
  /** Channel of the scores of calls whose candidates hold the right document. Default "ranking". */
  readonly served?: string;
  /** Channel of the scores of calls whose candidates do not. Default "ranking.unavailable". */
  readonly unavailable?: string;
  /** Scores and outcomes of at least this value are good. Default 0.8. */
  readonly good?: number;
  /** Size of the bonus. Default 1. */
  readonly bonus?: number;
}

/**
 * Scores of single calls, with a bonus for the episode's success where the ranking was good or could not matter:
 *
 *     b = bonus · 1[outcome of the episode's agent ≥ good]
 *     R = s + b   if s ≥ good, else s        the right document is among the candidates
 *     R = s + b   if s ≥ 0,    else s        it is not, so the ranking does not matter
 *
 * The agent's own outcome is passed on; other roles have none. Calls of episodes without an outcome get no bonus.
 * Paper: "CoSearch: Joint Training of Reasoning and Document Ranking via Reinforcement Learning for Agentic Search".
 */
export function outcomeBonus(options: OutcomeBonusOptions = {}): Credit {
  const { role = "agent", outcome = "outcome", good = 0.8, bonus = 1 } = options;
  const { served = "ranking", unavailable = "ranking.unavailable" } = options;
  return ({ signals, trajectories }) => {
    const byId = mapById(trajectories);
    const places = (channel: string): Credited[] =>
      signals.flatMap((signal) => {
        const value = signal.channel === channel ? signalValue(signal) : undefined;
        return value === undefined ? [] : signal.about.map((at) => ({ at, value }));
      });
    const own = places(outcome).filter(({ at }) => byId.get(at.trajectory)?.role === role);
    const outcomes = new Map<Id, number>();
    for (const { at, value } of own) {
      const { episode } = byId.get(at.trajectory)!;
      outcomes.set(episode, (outcomes.get(episode) ?? 0) + value);
    }
    const withBonus = (channel: string, least: number): Credited[] =>
      places(channel).map(({ at, value }) => {
        const came = outcomes.get(byId.get(at.trajectory)?.episode ?? "") ?? Number.NEGATIVE_INFINITY;
        return { at, value: value >= least && came >= good ? value + bonus : value };
      });
    return { [outcome]: own, [served]: withBonus(served, good), [unavailable]: withBonus(unavailable, 0) };
  };
}
