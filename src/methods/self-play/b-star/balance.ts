/** A sampled answer to a query. */
export interface ScoredAnswer {
  readonly id: string;
  /** Equal texts are one answer. */
  readonly text: string;
  /** Whether its final answer is right. */
  readonly right: boolean;
  /** What it is selected by, higher is better. */
  readonly score: number;
}

/** A query's answers above a threshold, each text once, best first; of equal scores and texts the first one drawn. */
export function above(answers: readonly ScoredAnswer[], threshold: number): ScoredAnswer[] {
  const seen = new Set<string>();
  return answers
    .filter(({ score }) => score > threshold)
    .toSorted((a, b) => b.score - a.score)
    .filter(({ text }) => !seen.has(text) && seen.add(text));
}

/** Most answers of a query that a cap may leave. */
const highestCap = 64;

/**
 * The selected answers of each query: those above the threshold, at most c a query. c is the smallest cap in 1…64 at which there are
 * `target` answers in all; the highest where there never are.
 */
export function selected(
  queries: readonly (readonly ScoredAnswer[])[],
  threshold: number,
  target: number,
): ScoredAnswer[][] {
  const good = queries.map((answers) => above(answers, threshold));
  let cap = 1;
  while (cap < highestCap && good.reduce((sum, own) => sum + Math.min(cap, own.length), 0) < target) cap++;
  return good.map((own) => own.slice(0, cap));
}

/**
 * The balance of exploration and exploitation of a selection, in [0, 1]:
 *
 *     bs_i = min(n′_i / n*, 1) · n′_i / n_i,   0 where n_i = 0;   B = mean over queries
 *
 * n_i: selected answers of query i, n′_i: those with the right final answer; B = 0 without queries. The first factor asks for enough right answers, which
 * needs exploration; the second for pure ones, which needs a reward that tells right from wrong.
 */
export function balance(queries: readonly (readonly ScoredAnswer[])[], wanted: number): number {
  const scores = queries.map((own) => {
    const right = own.filter((answer) => answer.right).length;
    return own.length === 0 ? 0 : (Math.min(right / wanted, 1) * right) / own.length;
  });
  return scores.reduce((a, b) => a + b, 0) / Math.max(1, scores.length);
}

/** Settings of {@link bestBalance}. */
export interface BalanceOptions {
  readonly thresholds: readonly number[];
  /** Selected answers in all that are asked for. */
  readonly target: number;
  /** n*, right answers of a query that are enough. */
  readonly wanted: number;
}

/** The temperature and threshold of the highest balance; of equals the first. @param sampled answers by query, for each temperature. */
export function bestBalance(
  sampled: readonly {
    readonly temperature: number;
    readonly queries: readonly (readonly ScoredAnswer[])[];
  }[],
  { thresholds, target, wanted }: BalanceOptions,
): { readonly temperature: number; readonly threshold: number; readonly balance: number } {
  const tried = sampled.flatMap(({ temperature, queries }) =>
    thresholds.map((threshold) => ({
      temperature,
      threshold,
      balance: balance(selected(queries, threshold, target), wanted),
    })),
  );
  return tried.reduce((best, other) => (other.balance > best.balance ? other : best));
}
