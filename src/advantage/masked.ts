import { overTurns } from "../common/tokens/tokenRanges.ts";
import type { Advantage } from "../core/slots.ts";

/** Settings of {@link masked}. */
export interface MaskedOptions {
  /** The note with a number per turn: 1 keeps a turn's advantage, 0 drops it, values in between weight it. */
  readonly note: string;
}

/**
 * Multiplies the advantages of the earlier estimators in the list by a note, turn by turn. Masked turns still count in the
 * baseline of the others and in the loss's normaliser, but give no gradient.
 *
 *     A[a] ← note[turn of a] · A[a]
 *
 * A trajectory without the note is unchanged. Stats: `kept`, the mean of the note over turns.
 */
export function masked({ note }: MaskedOptions): Advantage<null> {
  return {
    name: "masked",
    init: () => null,
    apply: ({ trajectories, notes }, _state, soFar) => {
      const advantages = new Map(soFar);
      let [sum, turns] = [0, 0];
      for (const t of trajectories) {
        const own = soFar?.get(t.id);
        const weights = notes[note]?.get(t.id);
        if (!own || !weights) continue;
        const weight_A = overTurns(t, weights);
        advantages.set(
          t.id,
          own.map((a, i) => a * weight_A[i]!),
        );
        for (const w of weights) sum += w;
        turns += weights.length;
      }
      return { advantages, next: null, stats: turns > 0 ? { kept: sum / turns } : {} };
    },
  };
}
