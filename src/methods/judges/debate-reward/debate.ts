/** An argument between two sides that reveal evidence in turn, settled by a judge who sees nothing else. */

/** What a set of evidence, by number, is worth to a judge for side 1: its score for side 1's action less that for side 2's. */
export type Margin = (revealed: readonly number[]) => number;

/** Settings of {@link debate}. */
export interface DebateOptions {
  /** Items that are revealed in all, or all there are, if fewer. */
  readonly items: number;
  /** Which side begins. */
  readonly first: 1 | 2;
  /** Sides that argue; the other one reveals nothing and its turns are left out. Default both. */
  readonly sides?: readonly (1 | 2)[];
}

/**
 * Sides reveal items in turn, none twice; each reveals the one that moves the judge furthest its way. Against an additive judge that is the
 * best play of the game.
 *
 *     u = 1 where the margin of what was revealed is above 0, −1 where it is below, 0 for a tie
 *
 * @param total items of evidence that there are.
 */
export function debate(
  margin: Margin,
  total: number,
  { items, first, sides = [1, 2] }: DebateOptions,
): number {
  const revealed: number[] = [];
  let side: 1 | 2 = first;
  for (let turn = 0; turn < Math.min(items, total); turn++) {
    if (sides.includes(side)) {
      const way = side === 1 ? 1 : -1;
      let [best, most] = [-1, Number.NEGATIVE_INFINITY];
      for (let e = 0; e < total; e++) {
        if (revealed.includes(e)) continue;
        const moved = way * margin([...revealed, e]);
        if (moved > most) [best, most] = [e, moved];
      }
      revealed.push(best);
    }
    side = side === 1 ? 2 : 1;
  }
  return Math.sign(margin(revealed));
}

/**
 * The outcome for side 1, averaged over who begins, so that swapping the sides changes the sign and nothing else.
 * Paper: "Reward Design for Justifiable Sequential Decision-Making".
 */
export const debated = (margin: Margin, total: number, options: Omit<DebateOptions, "first">): number =>
  (debate(margin, total, { ...options, first: 1 }) + debate(margin, total, { ...options, first: 2 })) / 2;
