/**
 * Linear and logarithmic axes. On a logarithmic one a chart draws log10 of its values on a linear scale, so that to change
 * from one to the other is to draw other points, not to make another chart.
 */

/** Where values stand; what is not positive has no place on a logarithmic axis. */
export const scaled = (values: readonly (number | null)[], log: boolean): (number | null)[] =>
  log ? values.map((value) => (value !== null && value > 0 ? Math.log10(value) : null)) : [...values];

/** The value that stands at a place. */
export const unscaled = (place: number, log: boolean): number => (log ? 10 ** place : place);

/** The whole decades that hold these places, one at least: 0.3 to 1.2 → 0 to 2. */
export function wholeDecades(low: number, high: number): [number, number] {
  const from = Math.floor(low);
  return [from, Math.max(from + 1, Math.ceil(high))];
}

/** Places of marks between two whole decades: 1, 2 and 5 of one or two, else powers of ten, six at most. */
export function decades(low: number, high: number): number[] {
  const within = high - low <= 2 ? [1, 2, 5] : [1];
  const apart = Math.ceil((high - low) / 5);
  const marks: number[] = [];
  for (let k = low; k <= high; k += apart) {
    for (const times of within) if (k + Math.log10(times) <= high) marks.push(k + Math.log10(times));
  }
  return marks;
}

/** Multiples of the step from low to high, zero without the noise of adding steps up. */
export function steps(low: number, high: number, step: number): number[] {
  const [from, until] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: until - from + 1 }, (_, i) => (from + i) * step);
}

/**
 * Ends of a linear axis on which all values are the same: 0 to 1 of a share, else from zero to twice the value, so that the
 * curve is in the middle; 0 to 1 where the value is zero.
 */
export function flatRange(value: number, share: boolean): [number, number] {
  if (value === 0 || (share && value > 0 && value <= 1)) return [0, 1];
  return value > 0 ? [0, 2 * value] : [2 * value, 0];
}
