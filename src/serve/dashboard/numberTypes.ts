/** JSON types of the dashboard's API: numbers. */

/** A number in JSON: NaN is null. */
export type Value = number | null;

/** An interval; a bound is null if it is infinite, as with a single observation. */
export interface Range {
  readonly mean: Value;
  readonly low: Value;
  readonly high: Value;
  readonly n: number;
}
