/** Means, confidence intervals and a sequential test. */

import { WhetstoneError } from "../../core/errors.ts";
import type { Interval } from "../../core/interval.ts";

/** Arithmetic mean; NaN for an empty array. */
export function mean(xs: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < xs.length; i++) sum += xs[i]!;
  return sum / xs.length;
}

/** The middle value, or the mean of the two in the middle; NaN for an empty array. */
export function median(xs: readonly number[]): number {
  const sorted = xs.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return mean(sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1));
}

/** Least-squares line: its slope (NaN where all x are equal), the means, and the centred sums of products. */
export function leastSquares(xs: readonly number[], ys: readonly number[]) {
  const [x0, y0] = [mean(xs), mean(ys)];
  let [xx, xy, yy] = [0, 0, 0];
  xs.forEach((x, i) => {
    xx += (x - x0) ** 2;
    xy += (x - x0) * (ys[i]! - y0);
    yy += (ys[i]! - y0) ** 2;
  });
  return { slope: xx > 0 ? xy / xx : Number.NaN, x0, y0, xx, xy, yy };
}

/** Sample standard deviation, divisor n − 1; NaN below two observations. */
export function standardDeviation(xs: ArrayLike<number>): number {
  const centre = mean(xs);
  let square = 0;
  for (let i = 0; i < xs.length; i++) square += (xs[i]! - centre) ** 2;
  return xs.length < 2 ? Number.NaN : Math.sqrt(square / (xs.length - 1));
}

/** ln Γ(x) for x > 0 (Lanczos, g = 7, n = 9). */
export function lnGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x);
  const terms = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const z = x - 1;
  let sum = terms[0]!;
  for (let i = 1; i < terms.length; i++) sum += terms[i]! / (z + i);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz). */
export function betaRegularised(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaRegularised(1 - x, b, a);
  const front =
    Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
  const tiny = 1e-300;
  const off = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / off(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / off(1 + even * d);
    c = off(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / off(1 + odd * d);
    c = off(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return front * fraction;
}

/** P(T ≤ t) of Student's t distribution. */
export function studentCdf(t: number, degrees: number): number {
  const tail = betaRegularised(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
  return t >= 0 ? 1 - tail : tail;
}

/** The t with P(T ≤ t) = p. */
export function studentQuantile(p: number, degrees: number): number {
  if (p < 0.5) return -studentQuantile(1 - p, degrees);
  let low = 0;
  let high = 1;
  while (studentCdf(high, degrees) < p) high *= 2;
  for (let i = 0; i < 200 && high - low > 1e-13 * high; i++) {
    const middle = (low + high) / 2;
    if (studentCdf(middle, degrees) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The z with P(Z ≤ z) = p for a standard normal: Student's t with 10⁹ degrees of freedom in place of infinitely many. */
function normalQuantile(p: number): number {
  return studentQuantile(p, 1e9);
}

/**
 * Student's t interval of a mean. The interval of a single observation is infinite.
 * @param confidence two-sided, default 0.95.
 */
export function meanInterval(xs: ArrayLike<number>, confidence = 0.95): Interval {
  const n = xs.length;
  const centre = mean(xs);
  if (n < 2) return { mean: centre, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY, n };
  const half = (studentQuantile((1 + confidence) / 2, n - 1) * standardDeviation(xs)) / Math.sqrt(n);
  return { mean: centre, low: centre - half, high: centre + half, n };
}

/** Interval of the mean of `treated[i] − baseline[i]`, with the same seeds on both sides. */
export function pairedInterval(
  treated: ArrayLike<number>,
  baseline: ArrayLike<number>,
  confidence = 0.95,
): Interval {
  if (treated.length !== baseline.length) {
    throw new WhetstoneError("shape.mismatch", {
      where: "pairedInterval",
      got: `${treated.length} and ${baseline.length} observations`,
      expected: "equal numbers of observations",
      fix: "Pair the runs by seed and leave out seeds that only one side has.",
    });
  }
  return meanInterval(
    Array.from(treated, (x, i) => x - baseline[i]!),
    confidence,
  );
}

/** Wilson's score interval of a success rate; within [0, 1] also for 0 or n successes. */
export function wilsonInterval(successes: number, n: number, confidence = 0.95): Interval {
  if (n === 0) return { mean: Number.NaN, low: 0, high: 1, n };
  const z = normalQuantile((1 + confidence) / 2);
  const p = successes / n;
  const shrink = 1 + (z * z) / n;
  const centre = (p + (z * z) / (2 * n)) / shrink;
  const half = (z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / shrink;
  // with 0 or n successes the bound is exactly 0 or 1; avoid rounding errors
  return {
    mean: p,
    low: successes === 0 ? 0 : Math.max(0, centre - half),
    high: successes === n ? 1 : Math.min(1, centre + half),
    n,
  };
}

/** P(a random treated run beats a random baseline run); ties count half. */
export function probabilityOfImprovement(treated: ArrayLike<number>, baseline: ArrayLike<number>): number {
  let wins = 0;
  for (let i = 0; i < treated.length; i++) {
    for (let j = 0; j < baseline.length; j++) {
      if (treated[i]! > baseline[j]!) wins += 1;
      else if (treated[i] === baseline[j]) wins += 0.5;
    }
  }
  return wins / (treated.length * baseline.length);
}

export type Verdict = "reproduced" | "inconclusive" | "not reproduced";

/** The hypothesis, stated before the data are seen. */
export interface Hypothesis {
  /** The method's metric is expected above or below the baseline's. */
  readonly direction: "higher" | "lower";
  /** Smallest effect of interest, ≥ 0, in the unit of the metric. */
  readonly smallestEffect: number;
}

/** Numbers of seeds at which the sequential test looks at the data, and the confidence of each look. */
export const looks = { seeds: [8, 20], confidence: 0.975 } as const;

/** Result of a look, and whether to run more seeds. */
export interface Look {
  readonly verdict: Verdict;
  readonly interval: Interval;
  /** Number of seeds at the next look; absent when the verdict is final. */
  readonly extendTo?: number;
}

/** Difference of two independent shares, second less first, from their Wilson intervals (Newcombe 1998, method 10). */
export function intervalOfDifference(first: Interval, second: Interval): Interval {
  const mean = second.mean - first.mean;
  return {
    mean,
    low: mean - Math.hypot(second.mean - second.low, first.high - first.mean),
    high: mean + Math.hypot(second.high - second.mean, first.mean - first.low),
    n: Math.min(first.n, second.n),
  };
}

/**
 * The verdict on paired differences (method − baseline), from the paired t interval alone. It looks at 8 seeds, and once
 * more at 20 if undecided; each look has 97.5 % confidence, so the error rate of both together is at most 5 %.
 *
 * - reproduced: the whole interval lies on the expected side of 0, and its midpoint reaches the smallest effect;
 * - not reproduced: the whole interval lies below the smallest effect, or does not exceed 0;
 * - inconclusive: anything else.
 * @param confidence of each look, in (0, 1). A redesign after a look takes half the error of the design before it.
 */
export function sequentialVerdict(
  differences: ArrayLike<number>,
  hypothesis: Hypothesis,
  confidence: number = looks.confidence,
): Look {
  const [first, last] = looks.seeds;
  if (differences.length !== first && differences.length !== last) {
    throw new WhetstoneError("option.range", {
      where: "sequentialVerdict",
      got: `${differences.length} seeds`,
      expected: `${first} or ${last} seeds, the planned looks`,
      fix: "Run the planned number of seeds; looking in between raises the error rate.",
    });
  }
  const interval = meanInterval(differences, confidence);
  const sign = hypothesis.direction === "higher" ? 1 : -1;
  const [near, far] = sign > 0 ? [interval.low, interval.high] : [-interval.high, -interval.low];
  let verdict: Verdict = "inconclusive";
  if (near > 0 && sign * interval.mean >= hypothesis.smallestEffect) verdict = "reproduced";
  else if (far < hypothesis.smallestEffect || far <= 0) verdict = "not reproduced";
  const open = verdict === "inconclusive" && differences.length === first;
  return { verdict, interval, ...(open ? { extendTo: last } : {}) };
}
