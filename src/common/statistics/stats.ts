/** Named sums of stats, and their averages. */
import type { Stats } from "../../core/types.ts";

/** Adds `more` to `into`, in place. For names that end in `.max`, keeps the larger value. */
export function addStats(into: Stats, more: Stats): void {
  for (const [name, value] of Object.entries(more)) {
    const old = into[name];
    into[name] = old === undefined ? value : name.endsWith(".max") ? Math.max(old, value) : old + value;
  }
}

/**
 * Turns sums into averages: the sum named `x/y` divided by the sum named `y` becomes `x`. It is left out where the divisor
 * is 0 (nothing was measured). Sums without a `/` are kept.
 * @example averageStats({ tokens: 4, "clipFraction/tokens": 1 }) // { tokens: 4, clipFraction: 0.25 }
 */
export function averageStats(sums: Stats): Stats {
  const out: Stats = {};
  for (const [name, value] of Object.entries(sums)) {
    const cut = name.lastIndexOf("/");
    if (cut < 0) {
      out[name] = value;
      continue;
    }
    const count = sums[name.slice(cut + 1)] ?? 0;
    if (count !== 0) out[name.slice(0, cut)] = value / count;
  }
  return out;
}
