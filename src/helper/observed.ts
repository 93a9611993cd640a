/** What was served and what was heard of it, as rows that a reward model is fitted to. */
import type { Logged } from "../core/served.ts";
import { signalValue } from "../core/signal.ts";
import type { Turn } from "../core/types.ts";
import type { Features } from "./ridge.ts";

/** Something served, and what was said of it: null, nothing. Silence is a row, and never a 0. */
export interface Heard {
  readonly x: Features;
  readonly y: number | null;
  readonly weight: number;
}

/**
 * One row for every turn on which feedback could have come on the channel: its features, and the value of the signal that
 * answers that exposure. Of several the last one counts; one without a number is silence. Turns that were not exposed on
 * the channel are no rows.
 */
export function heardOn(
  channel: string,
  served: readonly Logged[],
  features: (turn: Turn) => Features,
): readonly Heard[] {
  return served.flatMap(({ trajectory, signals, exposures }) =>
    exposures.flatMap((exposure) => {
      const turn = trajectory.turns[exposure.about.turn ?? 0];
      if (exposure.channel !== channel || !turn) return [];
      const answer = signals.findLast((signal) => signal.exposure === exposure.id);
      return [{ x: features(turn), y: (answer && signalValue(answer)) ?? null, weight: 1 }];
    }),
  );
}
