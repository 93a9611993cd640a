import type { Feedback } from "../core/slots.ts";

/** Settings of {@link noted}. */
export interface NotedOptions {
  /** A note with one number per turn. */
  readonly note: string;
  /** Default: named after the note. */
  readonly channel?: string;
}

/** What an annotation noted about each turn, as that turn's reward. NaN is no reward. */
export function noted({ note, channel = note }: NotedOptions): Feedback {
  return async (_ctx, { trajectories }, notes) =>
    trajectories.flatMap((t) =>
      Array.from(notes[note]?.get(t.id) ?? []).flatMap((value, turn) =>
        Number.isNaN(value)
          ? []
          : [{ kind: "reward" as const, channel, about: [{ trajectory: t.id, turn }], value, source: note }],
      ),
    );
}
