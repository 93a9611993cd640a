import { type Able, totalScore } from "../../core/evaluator.ts";
import { randomStream } from "../../core/random.ts";

/**
 * Scores without position bias: candidates are judged in their order and in reverse, and both scores of each are averaged.
 * Undefined where the judge failed in either order, or returned a wrong number of scores.
 *
 *     s[i] = (judge(c[1] … c[K])[i] + judge(c[K] … c[1])[K + 1 − i]) / 2
 */
export async function scoredInBothOrders<Item>(
  judge: Able<"score", Item>,
  candidates: readonly Item[],
): Promise<readonly number[] | undefined> {
  const random = randomStream("rubric judge");
  const [forward, backward] = await Promise.all([
    judge.score(candidates, { random: random.split(0) }),
    judge.score(candidates.toReversed(), { random: random.split(1) }),
  ]);
  const mirrored = backward?.toReversed();
  if (forward?.length !== candidates.length || mirrored?.length !== candidates.length) return undefined;
  return forward.map((scores, i) => (totalScore(scores) + totalScore(mirrored[i]!)) / 2);
}

/** Two candidates of which a person prefers the first. */
export interface LabelledPair<Item> {
  readonly better: Item;
  readonly worse: Item;
}

/** A labelled pair with the judge's result: score of the better one minus score of the worse one, in [−1, 1]. */
export interface JudgedPair<Item> {
  readonly pair: LabelledPair<Item>;
  readonly lead: number;
}

/** Pairs, each judged in both orders. Pairs on which the judge failed are left out. */
export async function judgedPairs<Item>(
  judge: Able<"score", Item>,
  pairs: readonly LabelledPair<Item>[],
): Promise<readonly JudgedPair<Item>[]> {
  const judged = pairs.map(async (pair): Promise<readonly JudgedPair<Item>[]> => {
    const scores = await scoredInBothOrders(judge, [pair.better, pair.worse]);
    return scores ? [{ pair, lead: scores[0]! - scores[1]! }] : [];
  });
  return (await Promise.all(judged)).flat();
}

/** Share of pairs that were judged as labelled; a tie counts half. 0 without pairs. */
export function accuracyOf(pairs: readonly JudgedPair<unknown>[]): number {
  const right = pairs.reduce((sum, { lead }) => sum + (lead > 0 ? 1 : lead === 0 ? 0.5 : 0), 0);
  return pairs.length === 0 ? 0 : right / pairs.length;
}
