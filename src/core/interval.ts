/** A mean with its interval. */
/** A mean with a two-sided confidence interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** Number of observations. */
  readonly n: number;
}
