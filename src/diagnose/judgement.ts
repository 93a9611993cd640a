/** How well an evaluator tells the better of two trajectories, whatever kind of evaluator it is. */

import { leastSquares, mean, studentQuantile } from "../common/statistics/statistics.ts";
import type { TrajectoryPair } from "../common/tokens/pairs.ts";
import type { Interval } from "../core/interval.ts";
import type { Task, Trajectory } from "../core/types.ts";

/** A reward model that scores, a judge that compares, a model that writes a verdict: all of them compare two. */
export interface Comparator {
  readonly name: string;
  /** Probability in 0…1 that the first of two is the better one, ½ for a tie; undefined where no verdict came. */
  compare(task: Task, first: Trajectory, second: Trajectory): Promise<number | undefined>;
}

/** A scalar evaluator: the higher score is the better one, equal scores are a tie. */
export function byScore(
  name: string,
  score: (task: Task, trajectory: Trajectory) => Promise<number | undefined>,
): Comparator {
  return {
    name,
    async compare(task, first, second) {
      const [a, b] = [await score(task, first), await score(task, second)];
      if (a === undefined || b === undefined || Number.isNaN(a) || Number.isNaN(b)) return undefined;
      return a === b ? 0.5 : a > b ? 1 : 0;
    },
  };
}

/** An evaluator that writes its verdict: "first", "second" or "tie" among its words, exactly one of them. */
export function byComparator(
  name: string,
  ask: (task: Task, first: Trajectory, second: Trajectory) => Promise<string>,
): Comparator {
  return { name, compare: async (task, first, second) => statedLabel(await ask(task, first, second)) };
}

/** The verdict in a text as a probability that the first one is better; undefined where there is none, or two. */
export function statedLabel(text: string): number | undefined {
  const said = new Set(text.toLowerCase().match(/\b(first|second|tie)\b/g));
  if (said.size !== 1) return undefined;
  return said.has("tie") ? 0.5 : said.has("first") ? 1 : 0;
}

/** What came of one pair, asked in both orders. */
export interface PairLabel {
  readonly pair: TrajectoryPair;
  /** Mean over the two orders of: 1 right, ½ tie, 0 wrong. */
  readonly correct: number;
  /** Whether both orders have the same winner. */
  readonly consistent: boolean;
  /** How often, of the two orders, whatever stood first won; a tie is half. */
  readonly firstChosen: number;
  /** How often the longer one won; undefined where both are as long. */
  readonly longerChosen: number | undefined;
}

/** What was said in a trajectory after the task: actions and what answered them, in order. */
export function repliesIn({ turns }: Trajectory): readonly string[] {
  const [first, last] = [turns[0], turns.at(-1)];
  if (!first || !last) return [];
  return [...last.prompt.slice(first.prompt.length), last.action].map((m) => m.content);
}

/** Words of a trajectory, both of what the agent did and of what answered it. */
export function lengthOf(t: Trajectory): number {
  return repliesIn(t).reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}

const bit = (p: number): number => (p === 0.5 ? 0.5 : p > 0.5 ? 1 : 0);

/**
 * @param forward the probability that the first is better, with the chosen one first. @param backward with the rejected
 *   one first. An answer that depends on the order alone is half right, and is kept: leaving it out would flatter.
 * @returns undefined where either of them is missing: no verdict is no wrong verdict.
 */
export function pairLabel(
  pair: TrajectoryPair,
  forward: number | undefined,
  backward: number | undefined,
): PairLabel | undefined {
  if (forward === undefined || backward === undefined) return undefined;
  const [ahead, behind] = [bit(forward), 1 - bit(backward)];
  const longer = lengthOf(pair.chosen) - lengthOf(pair.rejected);
  const correct = (ahead + behind) / 2;
  return {
    pair,
    correct,
    consistent: ahead === behind,
    firstChosen: (ahead + 1 - behind) / 2,
    longerChosen: longer === 0 ? undefined : longer > 0 ? correct : 1 - correct,
  };
}

/** Asks about every pair in both orders. */
export async function judged(
  pairs: readonly TrajectoryPair[],
  comparator: Comparator,
): Promise<{ readonly verdicts: readonly PairLabel[]; readonly failed: number }> {
  const verdicts: PairLabel[] = [];
  for (const pair of pairs) {
    const { task, chosen, rejected } = pair;
    const forward = await comparator.compare(task, chosen, rejected);
    const verdict = pairLabel(pair, forward, await comparator.compare(task, rejected, chosen));
    if (verdict) verdicts.push(verdict);
  }
  return { verdicts, failed: pairs.length - verdicts.length };
}

/** Accuracy on some verdicts; NaN of none. */
export const accuracy = (verdicts: readonly PairLabel[]): number => mean(verdicts.map((v) => v.correct));

/** Verdicts by a label, in the order of their first appearance. */
export const byLabel = (verdicts: readonly PairLabel[], label: string): Map<string, PairLabel[]> =>
  Map.groupBy(verdicts, ({ pair }) => pair.labels[label] ?? "");

/** Verdicts in so many parts of equal number, from the shortest pairs to the longest. */
export function byLength(verdicts: readonly PairLabel[], parts: number): readonly (readonly PairLabel[])[] {
  const sorted = verdicts.toSorted((a, b) => pairLength(a) - pairLength(b));
  return Array.from({ length: parts }, (_, i) =>
    sorted.slice(Math.round((i * sorted.length) / parts), Math.round(((i + 1) * sorted.length) / parts)),
  );
}

/** Mean length of a pair's two trajectories. */
export const pairLength = ({ pair }: PairLabel): number =>
  (lengthOf(pair.chosen) + lengthOf(pair.rejected)) / 2;

/** Least-squares slope of correctness against ln length: accuracy per e-fold of length. NaN where all are as long. */
export function lengthSlope(verdicts: readonly PairLabel[]): Interval {
  const n = verdicts.length;
  const xs = verdicts.map((v) => Math.log(pairLength(v)));
  const ys = verdicts.map((v) => v.correct);
  const { slope, xx, xy, yy } = leastSquares(xs, ys);
  const error = Math.sqrt(Math.max(0, yy - slope * xy) / (n - 2) / xx);
  const half = n > 2 ? studentQuantile(0.975, n - 2) * error : Number.POSITIVE_INFINITY;
  return { mean: slope, low: slope - half, high: slope + half, n };
}
