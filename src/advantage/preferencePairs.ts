import { type Comparison, pairColumns } from "../common/tokens/pairs.ts";
import { overAll, tokenRange } from "../common/tokens/tokenRanges.ts";
import type { Advantage } from "../core/slots.ts";
import type { Id, Trajectory } from "../core/types.ts";
import { onTop } from "./returns.ts";

/** Settings of {@link preferencePairs}. */
export interface PreferencePairsOptions {
  /** Channels whose preferences count. Default: all. */
  readonly channels?: readonly string[];
  /** Named spans of an action whose tokens are excluded from the pairs, e.g. ["thought"]. Default: none. */
  readonly without?: readonly string[];
}

/**
 * Packs `preference` signals for pairwise objectives: the columns of `common/tokens/pairs.ts`. Each preferred target is
 * paired with every other target of its signal, with the signal's strength (1 where it has none).
 *
 * The advantage itself is the mean outcome of a trajectory's comparisons, on every action token:
 *
 *     A[i] = 1/n Σ_pairs ±(2 · strength − 1)        + where it is preferred; n: the pairs that it is in
 *
 * A trajectory without comparisons is left out.
 */
export function preferencePairs({ channels, without = [] }: PreferencePairsOptions = {}): Advantage<null> {
  return {
    name: "preferencePairs",
    init: () => null,
    apply: ({ signals, trajectories }, _state, soFar) => {
      const comparisons = signals.flatMap((signal): Comparison[] => {
        if (signal.kind !== "preference" || !(channels?.includes(signal.channel) ?? true)) return [];
        const chosen = signal.about[signal.best];
        if (!chosen) return [];
        return signal.about
          .filter((_, i) => i !== signal.best)
          .map((rejected) => ({ chosen, rejected, strength: signal.value ?? 1 }));
      });
      const outcomes = new Map<Id, number[]>();
      const add = (id: Id, outcome: number): void => {
        const list = outcomes.get(id);
        if (list) list.push(outcome);
        else outcomes.set(id, [outcome]);
      };
      for (const { chosen, rejected, strength } of comparisons) {
        add(chosen.trajectory, 2 * strength - 1);
        add(rejected.trajectory, 1 - 2 * strength);
      }
      const advantages = new Map<Id, Float32Array>();
      for (const t of trajectories) {
        const own = outcomes.get(t.id);
        if (own) advantages.set(t.id, overAll(t, own.reduce((a, b) => a + b, 0) / own.length));
      }
      return {
        advantages: onTop(advantages, soFar),
        next: null,
        stats: { pairs: comparisons.length },
        columns: pairColumns(trajectories, comparisons, (t) => outside(t, without)),
      };
    },
  };
}

/** Whether an action token of a trajectory lies in none of the named spans. */
export function outside(t: Trajectory, names: readonly string[]): (a: number) => boolean {
  const hidden = new Set<number>();
  t.turns.forEach(({ spans }, turn) => {
    for (const span of names.flatMap((name) => spans[name] ?? [])) {
      const [from, to] = tokenRange(t, { trajectory: t.id, turn, span });
      for (let a = from; a < to; a++) hidden.add(a);
    }
  });
  return (a) => !hidden.has(a);
}
