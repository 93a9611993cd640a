/** Splits a list into training, validation and test items. */
import { type Random, shuffled } from "../core/random.ts";

const shares: Readonly<Record<string, readonly [from: number, to: number]>> = {
  train: [0, 0.7],
  validation: [0.7, 0.8],
  test: [0.8, 1],
};

export const heldOutSplits: readonly string[] = Object.keys(shares);

/** 70 % of the items for "train", 10 % for "validation", 20 % for "test", in random order; none for other names. */
export function itemsOf<T>(items: readonly T[], split: string, random: Random): readonly T[] {
  const share = Object.hasOwn(shares, split) ? shares[split] : undefined;
  if (share === undefined) return [];
  const [from, to] = share.map((s) => Math.round(s * items.length));
  return shuffled(items, random).slice(from, to);
}
