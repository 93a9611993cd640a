/** How well an evaluator tells the better of two trajectories, whatever kind of evaluator it is. */

import { leastSquares, mean, studentQuantile } from "../common/statistics/statistics.ts";
import type { TrajectoryPair } from "../common/tokens/pairs.ts";
import {
  type Able,
  type Attempt,
  comparingScores,
  counted,
  type Evaluator,
  type EvaluatorCall,
} from "../core/evaluator.ts";
import type { Interval } from "../core/interval.ts";
import { randomStream } from "../core/random.ts";
import type { Trajectory } from "../core/types.ts";

/** An evaluator that says which is better in words: "first", "second" or "tie", exactly one of them. */
export const inWords = (
  name: string,
  ask: (first: Attempt, second: Attempt, call: EvaluatorCall) => Promise<string>,
): Able<"compare"> => ({
  name,
  compare: async (first, second, call) => statedLabel(await ask(first, second, call)),
});

/** What a text says, as a probability that the first one is better; undefined where it says none of the words, or two. */
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
 * @returns undefined where either of them is missing: a failure is no wrong answer.
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

/** Asks about every pair in both orders. An evaluator that cannot compare does so by its scores. */
export async function labelPairs(
  pairs: readonly TrajectoryPair[],
  evaluator: Evaluator,
): Promise<{ readonly labels: readonly PairLabel[]; readonly failed: number }> {
  const { compare } = counted(evaluator.compare ? evaluator : comparingScores(evaluator), {
    count: () => {},
  });
  const labels: PairLabel[] = [];
  for (const pair of pairs) {
    const [chosen, rejected] = [pair.chosen, pair.rejected].map(
      (trajectory): Attempt => ({ task: pair.task, trajectory }),
    ) as [Attempt, Attempt];
    const random = randomStream("pairs").split(pair.id);
    const forward = await compare(chosen, rejected, { random: random.split("forward") });
    const backward = await compare(rejected, chosen, { random: random.split("backward") });
    const label = pairLabel(pair, forward, backward);
    if (label) labels.push(label);
  }
  return { labels, failed: pairs.length - labels.length };
}

/** Accuracy on some pairs; NaN of none. */
export const accuracy = (labels: readonly PairLabel[]): number => mean(labels.map((v) => v.correct));

/** Results by a label of the pair, in the order of their first appearance. */
export const byLabel = (labels: readonly PairLabel[], label: string): Map<string, PairLabel[]> =>
  Map.groupBy(labels, ({ pair }) => pair.labels[label] ?? "");

/** Results in so many parts of equal number, from the shortest pairs to the longest. */
export function byLength(labels: readonly PairLabel[], parts: number): readonly (readonly PairLabel[])[] {
  const sorted = labels.toSorted((a, b) => pairLength(a) - pairLength(b));
  return Array.from({ length: parts }, (_, i) =>
    sorted.slice(Math.round((i * sorted.length) / parts), Math.round(((i + 1) * sorted.length) / parts)),
  );
}

/** Mean length of a pair's two trajectories. */
export const pairLength = ({ pair }: PairLabel): number =>
  (lengthOf(pair.chosen) + lengthOf(pair.rejected)) / 2;

/** Least-squares slope of correctness against ln length: accuracy per e-fold of length. NaN where all are as long. */
export function lengthSlope(labels: readonly PairLabel[]): Interval {
  const n = labels.length;
  const xs = labels.map((v) => Math.log(pairLength(v)));
  const ys = labels.map((v) => v.correct);
  const { slope, xx, xy, yy } = leastSquares(xs, ys);
  const error = Math.sqrt(Math.max(0, yy - slope * xy) / (n - 2) / xx);
  const half = n > 2 ? studentQuantile(0.975, n - 2) * error : Number.POSITIVE_INFINITY;
  return { mean: slope, low: slope - half, high: slope + half, n };
}
