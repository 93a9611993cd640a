import { overTurns } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage, Advantages } from "../../../core/slots.ts";

/** Column of the historical mean entropy at each token's turn, nats. */
export const historyColumn = "entropy.history";

/** By turn: the mean over past iterations of the turn's mean entropy, nats, and how many iterations reached it. */
export interface EntropyHistoryState extends Readonly<Record<string, readonly number[]>> {
  readonly mean: readonly number[];
  readonly iterations: readonly number[];
}

/**
 * Records the mean entropy of each turn over past iterations and adds it as a column; advantages are unchanged.
 *
 *     H̄[k] = mean over past iterations of mean over tokens of turn k of H
 *     column "entropy.history": H̄[turn of the token] before this iteration; NaN at turns never reached before
 *
 * Turns are counted from each episode's start, and an iteration counts at the turns that any of its units reached. Needs
 * entropies from the sampler; without them nothing is recorded. Stats: `turns`, how many turns have a history.
 * Paper: "EPO: Entropy-regularized Policy Optimization for LLM Agents Reinforcement Learning".
 */
export function entropyHistory(): Advantage<EntropyHistoryState> {
  return {
    name: "entropyHistory",
    init: () => ({ mean: [], iterations: [] }),
    apply: (annotated, state, soFar) => {
      const members = new Set(annotated.units.flatMap((unit) => unit.members));
      const trajectories = annotated.trajectories.filter((t) => members.has(t.id));
      const sums: number[] = [];
      const tokens: number[] = [];
      for (const t of trajectories) {
        t.turns.forEach((turn, k) => {
          for (const nats of turn.tokens?.entropy ?? []) {
            sums[k] = (sums[k] ?? 0) + nats;
            tokens[k] = (tokens[k] ?? 0) + 1;
          }
        });
      }
      const mean: number[] = [];
      const iterations: number[] = [];
      for (let k = 0; k < Math.max(state.mean.length, sums.length); k++) {
        const before = state.iterations[k] ?? 0;
        const old = state.mean[k] ?? 0;
        const now = tokens[k] === undefined ? undefined : sums[k]! / tokens[k]!;
        mean.push(now === undefined ? old : old + (now - old) / (before + 1));
        iterations.push(now === undefined ? before : before + 1);
      }
      const known = (k: number): number => ((state.iterations[k] ?? 0) > 0 ? state.mean[k]! : Number.NaN);
      const column: Advantages = new Map(
        trajectories.map((t) => [
          t.id,
          overTurns(
            t,
            t.turns.map((_, k) => known(k)),
          ),
        ]),
      );
      return {
        advantages: soFar ?? new Map(),
        columns: { [historyColumn]: column },
        next: { mean, iterations },
        stats: { "history.turns": iterations.filter((n) => n > 0).length },
      };
    },
  };
}
