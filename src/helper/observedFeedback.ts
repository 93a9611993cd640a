/** Served turns and their feedback, as training rows of a reward model. */
import type { Logged } from "../core/served.ts";
import { signalValue } from "../core/signal.ts";
import type { Turn } from "../core/types.ts";
import type { Features } from "./ridge.ts";

/** A served item and its feedback; null without feedback. A row without feedback is kept, and is never a 0. */
export interface ObservedFeedback {
  readonly x: Features;
  readonly y: number | null;
  readonly weight: number;
}

/**
 * One row for every turn with an exposure on the channel: its features, and the value of the signal that answers the
 * exposure. Among several signals the last one counts; a signal without a number counts as no feedback. Turns without an
 * exposure on the channel give no row.
 */
export function observedFeedback(
  channel: string,
  served: readonly Logged[],
  features: (turn: Turn) => Features,
): readonly ObservedFeedback[] {
  return served.flatMap(({ trajectory, signals, exposures }) =>
    exposures.flatMap((exposure) => {
      const turn = trajectory.turns[exposure.about.turn ?? 0];
      if (exposure.channel !== channel || !turn) return [];
      const answer = signals.findLast((signal) => signal.exposure === exposure.id);
      return [{ x: features(turn), y: (answer && signalValue(answer)) ?? null, weight: 1 }];
    }),
  );
}
