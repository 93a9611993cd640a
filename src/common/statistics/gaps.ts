/** The distribution of small differences as stats that add up over parts: a histogram by half octaves. */
import type { Stats } from "../../core/types.ts";

/** Half octaves below 1 that are told apart: the smallest is 2 ** −26, below the rounding of float32. */
const fewest = -52;
const most = 20;

const bucketOf = (gap: number): number =>
  Math.min(most, Math.max(fewest, Math.ceil(2 * Math.log2(Math.max(gap, 2 ** (fewest / 2))))));

/**
 * Sums of differences, which `addStats` adds up over parts. A NaN stays in the sum and in the largest.
 * @param name of the stats. @param gaps at least 0.
 */
export function gapSums(name: string, gaps: Iterable<number>): Stats {
  const out: Stats = { [`${name}.max`]: 0 };
  let [sum, count, largest] = [0, 0, 0];
  for (const gap of gaps) {
    sum += gap;
    count++;
    largest = Math.max(largest, gap);
    if (Number.isNaN(gap)) continue;
    const bucket = `${name}.bucket.${bucketOf(gap)}`;
    out[bucket] = (out[bucket] ?? 0) + 1;
  }
  return { ...out, [`${name}.max`]: largest, [`${name}.sum`]: sum, [`${name}.tokens`]: count };
}

/** What `gapSums` counted, added up over parts. */
export interface GapSpread {
  readonly tokens: number;
  readonly mean: number;
  /** Upper edge of the half octave that holds the quantile of 99.9 %. */
  readonly p999: number;
  readonly largest: number;
  /** What the engine expects of rounding in the mean, where it says so. */
  readonly noise?: number;
}

/** The distribution of sums under any prefixes, such as a loss's name; undefined where nothing was counted. */
export function gapSpread(name: string, stats: Stats): GapSpread | undefined {
  let [tokens, sum, largest, noise] = [0, 0, 0, 0];
  const buckets = new Map<number, number>();
  for (const [key, value] of Object.entries(stats)) {
    const at = key === name || key.startsWith(`${name}.`) ? 0 : key.indexOf(`.${name}.`) + 1;
    if (at === 0 && !key.startsWith(`${name}.`)) continue;
    const part = key.slice(at + name.length + 1);
    if (part === "tokens") tokens += value;
    else if (part === "sum") sum += value;
    else if (part === "max") largest = Math.max(largest, value);
    else if (part === "noise.max") noise = Math.max(noise, value);
    else if (part.startsWith("bucket.")) {
      const bucket = Number(part.slice("bucket.".length));
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + value);
    }
  }
  if (tokens === 0) return undefined;
  let above = tokens / 1000;
  let p999 = 2 ** (fewest / 2);
  for (const [bucket, count] of [...buckets].sort(([a], [b]) => b - a)) {
    p999 = Math.min(largest, 2 ** (bucket / 2));
    above -= count;
    if (above < 0) break;
  }
  const mean = sum / tokens;
  return { tokens, mean, p999: Number.isNaN(sum) ? Number.NaN : p999, largest, ...(noise > 0 && { noise }) };
}

/** Whether a stat is one of the sums, of use to nobody once they are added up. */
export const isGapSum = (name: string, key: string): boolean =>
  new RegExp(`(?:^|\\.)${name}\\.(?:sum|tokens|noise\\.max|bucket\\.-?\\d+)$`).test(key);
