/** How alike two texts, or token sequences, are. */

/**
 * Ratcliff and Obershelp's ratio: twice what matches, over both lengths. What matches is the longest common run, and
 * again what matches to its left and to its right. 1 for equal sequences, also empty ones; 0 where nothing is shared.
 * The earliest of equally long runs counts, so that the order of the arguments may matter.
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
