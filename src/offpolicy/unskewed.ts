/** Quantiles of the mean of skewed numbers. */

/**
 * Converts a quantile x of the normal or Student's distribution into one of (mean − truth) / standard error for skewed
 * numbers: with a = skewness / √n, the inverse of T + a T² / 3 + a² T³ / 27 + a / 6, which is nearly symmetric
 * about 0 ("On the Removal of Skewness by Transformation"). Without skewness it is x.
 */
export function unskewed(x: number, a: number): number {
  return Math.abs(a) < 1e-6 ? x : (3 / a) * (Math.cbrt(1 + a * (x - a / 6)) - 1);
}
