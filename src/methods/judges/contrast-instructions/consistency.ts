/**
 * Consistency of a reward model on pairs of near instructions.
 * Paper: "The Trickle-down Impact of Reward (In-)consistency on RLHF".
 */

/** Rewards of one item: an instruction I with its preferred reply y, and a near one I′ with y′. */
export interface RewardGrid {
  /** r(I, y). */
  readonly own: number;
  /** r(I, y′). */
  readonly ownCross: number;
  /** r(I′, y). */
  readonly otherCross: number;
  /** r(I′, y′). */
  readonly other: number;
}

const wins = (a: number, b: number): number => (a === b ? 0.5 : Number(a > b));

/**
 *     C_res = mean of 1[r(I, y) > r(I, y′)] and 1[r(I′, y′) > r(I′, y)]          which reply fits an instruction
 *     C_ins = mean of 1[r(I, y) > r(I′, y)] and 1[r(I′, y′) > r(I, y′)]          which instruction a reply fits
 *
 * A tie counts half; chance is ½. C_ins compares rewards of different prompts, which a ranking loss leaves unidentified up to an offset
 * for each prompt. NaN without items.
 */
export function consistency(items: readonly RewardGrid[]): {
  readonly response: number;
  readonly instruction: number;
} {
  let [response, instruction] = [0, 0];
  for (const { own, ownCross, otherCross, other } of items) {
    response += wins(own, ownCross) + wins(other, otherCross);
    instruction += wins(own, otherCross) + wins(other, ownCross);
  }
  return { response: response / (2 * items.length), instruction: instruction / (2 * items.length) };
}
