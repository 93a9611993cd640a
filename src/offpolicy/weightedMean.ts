/** The weighted mean, which all estimators are built from. */

/** An estimate with the influence of each trajectory. */
export interface PointEstimate {
  readonly value: number;
  /** Empirical influence function, [trajectories], with mean 0: the variance of the value is its variance over n. */
  readonly influence: Float64Array;
}

/**
 * Σ w x / Σ w and its influence n w_i (x_i − value) / Σ w, by the delta method. With equal weights it is the mean; if all
 * weights are 0 it is NaN.
 */
export function weightedMean(weights: ArrayLike<number>, xs: ArrayLike<number>): PointEstimate {
  let total = 0;
  let sum = 0;
  for (let i = 0; i < xs.length; i++) {
    total += weights[i]!;
    sum += weights[i]! * xs[i]!;
  }
  const value = sum / total;
  const scale = xs.length / total;
  return { value, influence: Float64Array.from(xs, (x, i) => scale * weights[i]! * (x - value)) };
}

/** The mean, and its influence x_i − mean. */
export function plainMean(xs: ArrayLike<number>): PointEstimate {
  return weightedMean(new Float64Array(xs.length).fill(1), xs);
}

/** Σ_k factor_k · estimate_k, for values and influences alike. */
export function combination(
  terms: readonly { readonly factor: number; readonly estimate: PointEstimate }[],
  n: number,
): PointEstimate {
  const influence = new Float64Array(n);
  let value = 0;
  for (const { factor, estimate } of terms) {
    value += factor * estimate.value;
    for (let i = 0; i < n; i++) influence[i]! += factor * estimate.influence[i]!;
  }
  return { value, influence };
}
