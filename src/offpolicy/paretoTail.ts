/** The tail index of importance weights. */

/**
 * Shape k of a generalised Pareto distribution fitted to excesses, by "A New and Efficient Estimation Method for the
 * Generalized Pareto Distribution" (a quasi-posterior mean over a grid), shrunk towards ½ with the weight of ten prior
 * observations as in "Pareto Smoothed Importance Sampling". Moments of order 1/k and above do not exist: with k > ½ the
 * variance does not.
 * @param excesses above a threshold, ascending, all > 0, at least five.
 */
export function paretoShape(excesses: ArrayLike<number>): number {
  const n = excesses.length;
  const largest = excesses[n - 1]!;
  const quartile = excesses[Math.max(0, Math.floor(n / 4 + 0.5) - 1)]!;
  const m = 30 + Math.floor(Math.sqrt(n));
  const shapeAt = (theta: number): number => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += Math.log1p(-theta * excesses[i]!);
    return sum / n;
  };
  const thetas = Array.from(
    { length: m },
    (_, j) => 1 / largest + (1 - Math.sqrt(m / (j + 0.5))) / (3 * quartile),
  );
  const likelihoods = thetas.map((theta) => {
    const shape = shapeAt(theta);
    return n * (Math.log(-theta / shape) - shape - 1);
  });
  const best = Math.max(...likelihoods);
  const weights = likelihoods.map((l) => Math.exp(l - best));
  const total = weights.reduce((a, b) => a + b, 0);
  const theta = thetas.reduce((sum, at, j) => sum + (at * weights[j]!) / total, 0);
  return (n * shapeAt(theta) + 5) / (n + 10);
}

/**
 * k of the largest min(n / 5, 3 √n) weights; −∞ if these are equal. Undefined below 25 weights.
 */
export function paretoTail(weights: ArrayLike<number>): number | undefined {
  const n = weights.length;
  const tail = Math.floor(Math.min(n / 5, 3 * Math.sqrt(n)));
  if (tail < 5) return undefined;
  const sorted = Float64Array.from(weights).sort();
  const threshold = sorted[n - tail - 1]!;
  const excesses = sorted.subarray(n - tail).map((w) => w - threshold);
  const above = excesses.subarray(excesses.findIndex((x) => x > 1e-12 * threshold));
  const differ = above[above.length - 1]! - above[0]! > 1e-12 * above[0]!;
  return above.length < 5 || !differ ? Number.NEGATIVE_INFINITY : paretoShape(above);
}
