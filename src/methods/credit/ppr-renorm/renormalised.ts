import { signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link renormalised}. */
export interface RenormalisedOptions {
  /** Channel of the turns' own scores, in [0, 1]. Default "process". */
  readonly process?: string;
  /** Channel of the trajectory's outcome, in [0, 1]. Default "outcome". */
  readonly outcome?: string;
  /**
   * The centre that is subtracted: 1 centres both parts at their middle; "batch" subtracts the mean of score + outcome
   * over the judged turns of the batch, so that a further turn has mean reward 0. Default 1.
   */
  readonly centre?: number | "batch";
}

/**
 * Scores of turns, each centred together with the outcome of its trajectory (ReNorm):
 *
 *     r[t] = score[t] + outcome − centre     for every judged turn before the last
 *     r[T] = outcome                         for the last turn
 *
 * With centre 1 a high-scored turn of a failure gets 0 (1 + 0 − 1), and so does a low-scored turn of a success
 * (0 + 1 − 1). The outcome enters every turn, so its weight in the first turn's return grows with the length. Where
 * episodes may end early and successes are rare, score + outcome − 1 is negative and stopping at once is rewarded: fix
 * the number of turns there, or centre by the batch.
 *
 * Several scores of a turn are summed. Turns without a score (a judge failed) get no credit; a trajectory without an
 * outcome gets none at all. Channel: "renormalised".
 * Paper: "Hybrid Reward Normalization for Process-supervised Non-verifiable Agentic Tasks".
 */
export function renormalised(options: RenormalisedOptions = {}): Credit {
  const { process = "process", outcome = "outcome", centre = 1 } = options;
  return ({ trajectories, signals }) => {
    const outcomes = new Map<Id, number>();
    const scores = new Map<Id, Map<number, number>>();
    for (const signal of signals) {
      const value = signalValue(signal);
      if (value === undefined) continue;
      for (const { trajectory, turn } of signal.about) {
        if (signal.channel === outcome) outcomes.set(trajectory, (outcomes.get(trajectory) ?? 0) + value);
        if (signal.channel !== process || turn === undefined) continue;
        const own = scores.get(trajectory) ?? new Map<number, number>();
        scores.set(trajectory, own.set(turn, (own.get(turn) ?? 0) + value));
      }
    }
    const judged: Credited[] = [];
    const last: Credited[] = [];
    for (const { id, turns } of trajectories) {
      const end = outcomes.get(id);
      if (end === undefined || turns.length === 0) continue;
      last.push({ at: { trajectory: id, turn: turns.length - 1 }, value: end });
      for (const [turn, score] of scores.get(id) ?? []) {
        if (turn < turns.length - 1) judged.push({ at: { trajectory: id, turn }, value: score + end });
      }
    }
    const middle = centre === "batch" ? mean(judged) : centre;
    return { renormalised: [...judged.map((c) => ({ ...c, value: c.value - middle })), ...last] };
  };
}

const mean = (credits: readonly Credited[]): number =>
  credits.reduce((sum, { value }) => sum + value / credits.length, 0);
