/** An effect with its interval, in words. */
import type { Interval } from "../core/interval.ts";

/** A width below it is an error of rounding. */
const rounding = 1e-9;

/**
 * Such as "+1.3 points [0.2, 2.4]". An effect that is the same each time has no interval: what varies from label to label is not
 * known. @param scale factor on the numbers.
 */
export function effectText({ mean, low, high }: Interval, scale: number, digits: number, unit = ""): string {
  const shown = (x: number, more = 0): string => (scale * x).toFixed(digits + more);
  const of = (more: number): string => `${mean > 0 ? "+" : ""}${shown(mean, more)}${unit}`;
  if (high - low < rounding) return `${of(0)}, each time`;
  const more = shown(low) === shown(high) ? 3 : 0;
  return `${of(more)} [${shown(low, more)}, ${shown(high, more)}]`;
}
