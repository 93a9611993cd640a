/** How far two raters agree, and how well a score tells two classes apart. */
import { mean, studentQuantile, wilsonInterval } from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";

/** Share of items with the same class. */
export const accuracy = (first: readonly string[], second: readonly string[]): number =>
  mean(first.map((choice, i) => Number(choice === second[i])));

/**
 * Cohen's kappa: agreement beyond what two raters with the same shares of classes would reach by chance,
 * (observed − expected) / (1 − expected). NaN where both only ever say one and the same class.
 */
export function cohensKappa(first: readonly string[], second: readonly string[]): number {
  const expected = agreementByChance(first, second);
  return (accuracy(first, second) - expected) / (1 - expected);
}

/** The share of items on which two raters with these shares of classes would agree by chance. */
function agreementByChance(first: readonly string[], second: readonly string[]): number {
  const n = first.length;
  const share = (all: readonly string[], choice: string): number =>
    all.filter((x) => x === choice).length / n;
  return [...new Set(first)].reduce((sum, c) => sum + share(first, c) * share(second, c), 0);
}

/**
 * Area under the receiver operating characteristic: the probability that a positive scores higher than a negative, ties half
 * (the Mann–Whitney statistic, by ranks). NaN where one of the classes is empty.
 */
export function areaUnderCurve(scores: readonly number[], positive: readonly boolean[]): number {
  const order = scores.map((_, i) => i).sort((i, j) => scores[i]! - scores[j]!);
  let [ranks, positives] = [0, 0];
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && scores[order[to]!] === scores[order[from]!]) to++;
    const among = order.slice(from, to).filter((i) => positive[i]).length;
    ranks += (among * (from + 1 + to)) / 2; // the mean of the ranks from + 1 … to
    positives += among;
  }
  const negatives = order.length - positives;
  return (ranks - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Most blocks that the jackknife leaves out, one at a time. */
const blocks = 200;

/**
 * A statistic of items with its interval, by leaving out one block of whole clusters at a time.
 * @param clusterOf items of one cluster depend on each other. @param range smallest and largest value of the statistic.
 */
export function jackknifeInterval<T>(
  items: readonly T[],
  clusterOf: (item: T) => string,
  statistic: (items: readonly T[]) => number,
  [least, most]: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): Interval {
  const order = new Map([...new Set(items.map(clusterOf))].map((cluster, at) => [cluster, at]));
  const G = Math.min(blocks, order.size);
  const whole = statistic(items);
  const blockOf = items.map((item) => order.get(clusterOf(item))! % G);
  const parts = Array.from({ length: G }, (_, g) => statistic(items.filter((_, i) => blockOf[i] !== g)));
  const square = parts.reduce((sum, part) => sum + (part - mean(parts)) ** 2, 0);
  // where the statistic hangs on one block, being undefined without it, nothing is known of its error
  const isKnown = G >= 2 && parts.every(Number.isFinite);
  const half = isKnown
    ? studentQuantile(0.975, G - 1) * Math.sqrt(((G - 1) / G) * square)
    : Number.POSITIVE_INFINITY;
  return {
    mean: whole,
    low: Math.max(least, whole - half),
    high: Math.min(most, whole + half),
    n: items.length,
  };
}

/** The standard normal quantile of 0.975. */
const normal975 = 1.959964;

/**
 * The interval of a share of items that depend on each other within a cluster: Wilson's, for the number of independent items
 * that would vary as much (Korn and Graubard 1998, Survey Methodology 24), at most the number of items. Where all items are
 * alike, nothing is seen of how they depend: each cluster counts as one item, so that the interval has a width.
 */
export function clusteredShare(same: readonly boolean[], clusters: readonly string[]): Interval {
  const [n, groups] = [same.length, new Set(clusters).size];
  const share = same.filter(Boolean).length / n;
  if (n === 0 || groups === n) return wilsonInterval(n === 0 ? 0 : share * n, n);
  const wilson = (items: number): Interval => ({ ...wilsonInterval(share * items, items), mean: share, n });
  if (share === 0 || share === 1) return wilson(groups);
  if (groups < 2) return { mean: share, low: 0, high: 1, n };
  const { low } = jackknifeInterval(
    same.map((one, i) => ({ value: Number(one), cluster: clusters[i]! })),
    ({ cluster }) => cluster,
    (some) => mean(some.map(({ value }) => value)),
  );
  // half a width by Student's quantile, which is larger for few clusters, against the normal one within Wilson's
  const half = share - low;
  return wilson(half > 0 ? Math.min(n, (normal975 ** 2 * share * (1 - share)) / half ** 2) : groups);
}

/**
 * Cohen's kappa with its interval by the jackknife over clusters. Where that has no width, as where the raters agree on all items,
 * the bounds are those of the share of agreement, with the agreement by chance as it was seen.
 */
export function kappaInterval(
  first: readonly string[],
  second: readonly string[],
  clusters: readonly string[],
): Interval {
  const items = first.map((choice, i) => ({ pair: [choice, second[i]!] as const, cluster: clusters[i]! }));
  const of = (some: readonly (typeof items)[number][]): number =>
    cohensKappa(
      some.map(({ pair }) => pair[0]),
      some.map(({ pair }) => pair[1]),
    );
  const found = jackknifeInterval(items, ({ cluster }) => cluster, of, [-1, 1]);
  if (found.low < found.high) return found;
  const share = clusteredShare(
    items.map(({ pair }) => pair[0] === pair[1]),
    clusters,
  );
  const expected = agreementByChance(first, second);
  const kappa = (agreed: number): number => (agreed - expected) / (1 - expected);
  return { ...found, low: Math.max(-1, kappa(share.low)), high: Math.min(1, kappa(share.high)) };
}

/**
 * The area under the curve with its interval by the jackknife over clusters. Where that has no width, as where every positive
 * scores above every negative, it is Wilson's for as many independent pairs of a positive and a negative as the smaller class
 * has clusters.
 */
export function areaInterval(
  scores: readonly number[],
  positive: readonly boolean[],
  clusters: readonly string[],
): Interval {
  const items = scores.map((score, i) => ({ score, positive: positive[i]!, cluster: clusters[i]! }));
  const found = jackknifeInterval(
    items,
    ({ cluster }) => cluster,
    (some) =>
      areaUnderCurve(
        some.map((one) => one.score),
        some.map((one) => one.positive),
      ),
    [0, 1],
  );
  if (!(found.low === found.high)) return found;
  const clustersOf = (class_: boolean): number =>
    new Set(items.flatMap((one) => (one.positive === class_ ? [one.cluster] : []))).size;
  const pairs = Math.min(clustersOf(true), clustersOf(false));
  return { ...wilsonInterval(found.mean * pairs, pairs), mean: found.mean, n: found.n };
}
