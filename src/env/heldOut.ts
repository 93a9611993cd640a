/** Which of a list are practised, which choose checkpoints, which are held out. */
import { type Random, shuffled } from "../core/random.ts";

const shares: Readonly<Record<string, readonly [from: number, to: number]>> = {
  train: [0, 0.7],
  validation: [0.7, 0.8],
  test: [0.8, 1],
};

export const heldOutSplits: readonly string[] = Object.keys(shares);

/** Seven tenths of the items for "train", one for "validation", two for "test", in drawn order; nothing for other names. */
export function itemsOf<T>(items: readonly T[], split: string, random: Random): readonly T[] {
  const share = Object.hasOwn(shares, split) ? shares[split] : undefined;
  if (share === undefined) return [];
  const [from, to] = share.map((s) => Math.round(s * items.length));
  return shuffled(items, random).slice(from, to);
}
