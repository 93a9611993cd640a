import type { Able } from "../../../core/evaluator.ts";

/** Settings of {@link spotty}. */
export interface SpottyOptions {
  /** Share of the marks that is given. Default 1. */
  readonly given?: number;
  /** Share of the given marks with the wrong sign. Default 0. */
  readonly flipped?: number;
}

/** Degrades a critiquer: omits some marks and flips the sign of others; its text is unchanged. */
export function spotty(
  critiquer: Able<"critique">,
  { given = 1, flipped = 0 }: SpottyOptions = {},
): Able<"critique"> {
  return {
    name: critiquer.name,
    async critique(attempt, { random, run }) {
      // the key of the stream is that of the stored evidence
      const critique = await critiquer.critique(attempt, { random: random.split("critic"), run });
      if (!critique?.marks) return critique;
      const marks = critique.marks.flatMap((mark, i) => {
        const luck = random.split("mark", i);
        if (luck.next() >= given) return [];
        return [luck.next() < flipped ? { ...mark, good: !mark.good } : mark];
      });
      return { ...critique, marks };
    },
  };
}
