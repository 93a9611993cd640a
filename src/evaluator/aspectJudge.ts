/** A judge with a head for each aspect. */
import { sigmoid } from "../common/statistics/logistic.ts";
import type { Able } from "../core/evaluator.ts";
import type { Labels } from "./labels.ts";

/** An aspect, and its part of the score relative to the others. */
export interface Aspect {
  readonly name: string;
  readonly weight: number;
}

/** Name of a reward model with these heads. */
export const rewardModelOf = (heads: readonly Pick<Aspect, "name">[]): string =>
  `reward model of ${heads.map(({ name }) => name).join(", ")}`;

/**
 * A judge from log-odds z by aspect. Its score names each aspect: the aspect's probability σ(z) times its part of the score, so that they
 * add up to a number from 0 to 1. It compares by the same parts of
 *
 *     σ(z(first) − z(second))                fitted to pairs: the Bradley–Terry model
 *     ½ + ½ (σ(z(first)) − σ(z(second)))     fitted to single replies: one is good and the other is not; a tie counts half
 *
 * For single replies the first form would weigh how far two replies that are both surely good lie apart. `aspects` has a judge of each
 * alone.
 * @param oddsOf for each item one number for each aspect, in their order; undefined for no answer.
 */
export function aspectJudge<Item>(
  name: string,
  fittedTo: Labels["kind"],
  heads: readonly Aspect[],
  oddsOf: (items: readonly Item[]) => Promise<readonly (readonly number[])[] | undefined>,
): Able<"compare" | "score", Item> {
  const better = (a: number, b: number): number =>
    fittedTo === "pairs" ? sigmoid(a - b) : 0.5 + (sigmoid(a) - sigmoid(b)) / 2;
  const total = heads.reduce((sum, { weight }) => sum + weight, 0);
  const judge = (some: readonly { readonly name: string; readonly part: number; readonly at: number }[]) => ({
    score: async (items: readonly Item[]) =>
      (await oddsOf(items))?.map((odds) =>
        Object.fromEntries(some.map((head) => [head.name, head.part * sigmoid(odds[head.at]!)])),
      ),
    compare: async (first: Item, second: Item) => {
      const found = await oddsOf([first, second]);
      if (!found) return undefined;
      const [a, b] = [found[0]!, found[1]!];
      return some.reduce((sum, { part, at }) => sum + part * better(a[at]!, b[at]!), 0);
    },
  });
  return {
    name,
    ...judge(heads.map((head, at) => ({ name: head.name, part: head.weight / total, at }))),
    aspects: new Map(
      heads.map((head, at) => [head.name, { name: head.name, ...judge([{ name: head.name, part: 1, at }]) }]),
    ),
  };
}
