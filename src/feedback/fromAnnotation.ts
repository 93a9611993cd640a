import type { Feedback } from "../core/slots.ts";

/** Settings of {@link fromAnnotation}. */
export interface FromAnnotationOptions {
  /** Name of a note with one number per turn. */
  readonly note: string;
  /** Default: named after the note. */
  readonly channel?: string;
}

/** Turns a per-turn annotation into rewards of the turns. NaN gives no reward. */
export function fromAnnotation({ note, channel = note }: FromAnnotationOptions): Feedback {
  return async (_ctx, { trajectories }, notes) =>
    trajectories.flatMap((t) =>
      Array.from(notes[note]?.get(t.id) ?? []).flatMap((value, turn) =>
        Number.isNaN(value)
          ? []
          : [{ kind: "reward" as const, channel, about: [{ trajectory: t.id, turn }], value, source: note }],
      ),
    );
}
