import type { RubricJudge, RubricLibrary } from "../../core/rubrics.ts";

/**
 * Scores without position bias: candidates are judged in their order and in reverse, and both scores of each are averaged.
 * Undefined where the judge failed in either order, or returned a wrong number of scores.
 *
 *     s[i] = (judge(c[1] … c[K])[i] + judge(c[K] … c[1])[K + 1 − i]) / 2
 */
export async function scoredInBothOrders<Item>(
  judge: RubricJudge<Item>,
  library: RubricLibrary,
  candidates: readonly Item[],
): Promise<readonly number[] | undefined> {
  const [forward, backward] = await Promise.all([
    judge(library, candidates, 0),
    judge(library, candidates.toReversed(), 1),
  ]);
  const mirrored = backward?.toReversed();
  if (forward?.length !== candidates.length || mirrored?.length !== candidates.length) return undefined;
  return forward.map((score, i) => (score + mirrored[i]!) / 2);
}

/** Two candidates of which a person prefers the first. */
export interface LabelledPair<Item> {
  readonly better: Item;
  readonly worse: Item;
}

/** A judge's result on a labelled pair: score of the better one minus score of the worse one, in [−1, 1]. */
export interface Verdict<Item> {
  readonly pair: LabelledPair<Item>;
  readonly lead: number;
}

/** Verdicts on pairs, each judged in both orders. Pairs on which the judge failed are left out. */
export async function verdictsOn<Item>(
  judge: RubricJudge<Item>,
  library: RubricLibrary,
  pairs: readonly LabelledPair<Item>[],
): Promise<readonly Verdict<Item>[]> {
  const judged = pairs.map(async (pair): Promise<readonly Verdict<Item>[]> => {
    const scores = await scoredInBothOrders(judge, library, [pair.better, pair.worse]);
    return scores ? [{ pair, lead: scores[0]! - scores[1]! }] : [];
  });
  return (await Promise.all(judged)).flat();
}

/** Share of pairs that were judged as labelled; a tie counts half. 0 without verdicts. */
export function accuracyOf(verdicts: readonly Verdict<unknown>[]): number {
  const right = verdicts.reduce((sum, { lead }) => sum + (lead > 0 ? 1 : lead === 0 ? 0.5 : 0), 0);
  return verdicts.length === 0 ? 0 : right / verdicts.length;
}
