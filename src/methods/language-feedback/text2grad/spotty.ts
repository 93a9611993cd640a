import type { Critiquer } from "../../../core/critiquer.ts";

/** Settings of {@link spotty}. */
export interface SpottyOptions {
  /** Share of the marks that is given. Default 1. */
  readonly given?: number;
  /** Share of the given marks with the wrong sign. Default 0. */
  readonly flipped?: number;
}

/** Degrades a critic: omits some marks and flips the sign of others; its text is unchanged. */
export function spotty(critic: Critiquer, { given = 1, flipped = 0 }: SpottyOptions = {}): Critiquer {
  return async (ctx, trajectory, random) => {
    const critique = await critic(ctx, trajectory, random.split("critic"));
    if (!critique?.marks) return critique;
    const marks = critique.marks.flatMap((mark, i) => {
      const luck = random.split("mark", i);
      if (luck.next() >= given) return [];
      return [luck.next() < flipped ? { ...mark, good: !mark.good } : mark];
    });
    return { ...critique, marks };
  };
}
