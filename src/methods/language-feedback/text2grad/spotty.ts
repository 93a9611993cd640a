import type { Critic } from "../../../core/critic.ts";

/** Settings of {@link spotty}. */
export interface SpottyOptions {
  /** Share of the marks that is given. Default 1. */
  readonly given?: number;
  /** Share of the marks given that praise what should be blamed, and the other way round. Default 0. */
  readonly flipped?: number;
}

/** A critic that overlooks parts and errs on others, mark by mark; what it says in words stays. */
export function spotty(critic: Critic, { given = 1, flipped = 0 }: SpottyOptions = {}): Critic {
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
