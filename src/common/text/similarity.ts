/** Similarity of two texts or token sequences. */

/**
 * Ratcliff and Obershelp's ratio. M counts the elements of the longest common run and, recursively, of the matches to its
 * left and to its right. 1 for equal sequences, also empty ones; 0 where nothing is shared. Among equally long runs the
 * earliest is used, so the order of the arguments may matter.
 *
 *     ratio = 2 M / (|a| + |b|)
 */
export function matchingRatio<T>(a: ArrayLike<T>, b: ArrayLike<T>): number {
  const total = a.length + b.length;
  return total === 0 ? 1 : (2 * matches(a, b, [0, a.length], [0, b.length])) / total;
}

type Range = readonly [from: number, to: number];

function matches<T>(a: ArrayLike<T>, b: ArrayLike<T>, [a0, a1]: Range, [b0, b1]: Range): number {
  let best = { length: 0, i: a0, j: b0 };
  // length of the common run that ends before i and j, by j
  let runs = new Int32Array(b1 - b0 + 1);
  for (let i = a0; i < a1; i++) {
    const next = new Int32Array(b1 - b0 + 1);
    for (let j = b0; j < b1; j++) {
      if (a[i] !== b[j]) continue;
      const length = runs[j - b0]! + 1;
      next[j - b0 + 1] = length;
      if (length > best.length) best = { length, i: i + 1 - length, j: j + 1 - length };
    }
    runs = next;
  }
  const { length, i, j } = best;
  if (length === 0) return 0;
  const left = matches(a, b, [a0, i], [b0, j]);
  return left + length + matches(a, b, [i + length, a1], [j + length, b1]);
}

/**
 * BLEU of a candidate against one reference, both as lists of words: the geometric mean of the clipped n-gram precisions
 * for n = 1 … `order`, times a brevity penalty. 1 for an exact copy with at least `order` words, 0 where some n has no match.
 *
 *     BLEU = min(1, e^(1 − |reference|/|candidate|)) · Π_n p[n]^(1/order)        p[n]: matched n-grams / n-grams
 *
 * @param smooth added to numerator and denominator of every precision with n > 1, so that copies shorter than `order` also score 1.
 *   Default 0.
 * Paper: "BLEU: a Method for Automatic Evaluation of Machine Translation".
 */
export function bleu(
  candidate: readonly string[],
  reference: readonly string[],
  order = 2,
  smooth = 0,
): number {
  if (candidate.length === 0) return 0;
  let logSum = 0;
  for (let n = 1; n <= order; n++) {
    const [said, wanted] = [runs(candidate, n), runs(reference, n)];
    let matched = n > 1 ? smooth : 0;
    let all = matched;
    for (const [run, count] of said) {
      matched += Math.min(count, wanted.get(run) ?? 0);
      all += count;
    }
    if (matched === 0) return 0;
    logSum += Math.log(matched / all) / order;
  }
  return Math.min(1, Math.exp(1 - reference.length / candidate.length)) * Math.exp(logSum);
}

/** Count of each n-gram. */
function runs(words: readonly string[], n: number): ReadonlyMap<string, number> {
  const out = new Map<string, number>();
  for (let i = 0; i + n <= words.length; i++) {
    const run = words.slice(i, i + n).join(" ");
    out.set(run, (out.get(run) ?? 0) + 1);
  }
  return out;
}
