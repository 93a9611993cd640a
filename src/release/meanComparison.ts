/** Two arms of a live comparison, with tests that are valid at any moment. */
import type { Interval } from "../core/interval.ts";
import { unskewed } from "../offpolicy/unskewed.ts";
import { type Capital, capital } from "./capital.ts";
import { asymptoticHalfWidth, type Moments, moments } from "./moments.ts";

/** Bound on the candidate's mean as a function of the baseline's. Non-decreasing. */
export type Limit = (baseline: number) => number;

/** A sequential comparison of means: valid at every look, however many there are. */
export interface MeanComparison {
  see(arm: "candidate" | "baseline", x: number): void;
  readonly candidate: { readonly n: number; readonly mean: number };
  readonly baseline: { readonly n: number; readonly mean: number };
  /** Whether the candidate's mean is shown to be above (below) the limit, at one-sided error α over all looks together. */
  shown(side: "above" | "below", limit: Limit, alpha: number): boolean;
  /** Confidence interval of candidate − baseline, at two-sided error α over all looks together. */
  difference(alpha: number): Interval;
}

/**
 * For means of numbers in [0, 1]; exact at any sample size. To show that μ_c > limit(μ_b), the wealth of a bettor who bets
 * that the candidate is above x is multiplied by that of one who bets that the baseline is below m (a tenth of the wealth
 * stays on each arm alone). The product must reach 1 / α for every m with x = limit(m): for the true m, both games lose
 * on average if the claim is false. The infimum over m is taken over grid cells, each with the lower of the values that
 * its ends allow, so that the resolution costs power but never validity. Betting on both arms at once needs the samples of
 * one test, where separate bounds of each arm would need nearly twice as many.
 */
export function boundedComparison(alpha = 0.025, cells = 500): MeanComparison {
  // an arm with fewer units gives more evidence per unit: bets are in proportion to the other arm's share
  const horizon = (mine: () => number, other: () => number) => () => {
    const [m, o] = [mine() + 1, other() + 1];
    return Math.max(planned, (m * o) / (m + o)) * ((m + o) / o) ** 2;
  };
  const candidate: Capital = capital(
    alpha,
    cells,
    horizon(
      () => candidate.n,
      () => baseline.n,
    ),
  );
  const baseline: Capital = capital(
    alpha,
    cells,
    horizon(
      () => baseline.n,
      () => candidate.n,
    ),
  );
  const shown: MeanComparison["shown"] = (side, limit, error) =>
    everywhere(candidate, baseline, side, limit, cells, Math.log(1 / error));
  return {
    see: (arm, x) => (arm === "candidate" ? candidate : baseline).see(x),
    candidate,
    baseline,
    shown,
    difference: (error) => {
      const by = (k: number): Limit => {
        const delta = k / cells;
        return (m) => m + delta;
      };
      return {
        mean: candidate.mean - baseline.mean,
        low: -1 + furthest(cells, (k) => shown("above", by(k - cells), error / 2)) / cells,
        high: 1 - furthest(cells, (k) => shown("below", by(cells - k), error / 2)) / cells,
        n: candidate.n + baseline.n,
      };
    },
  };
}

/** Effective size n_c n_b / (n_c + n_b) that bets are optimised for; after it they shrink as 1 / √t. */
const planned = 200;

/** The greatest k in 0 … 2 cells such that all values up to it are shown; 0 if none is. */
function furthest(cells: number, shown: (k: number) => boolean): number {
  let [low, high] = [0, 2 * cells];
  while (low < high) {
    const k = Math.ceil((low + high) / 2);
    if (shown(k)) low = k;
    else high = k - 1;
  }
  return low;
}

/** ln of the wealth shares that bet on both arms at once, and on each alone: if one arm is conclusive, the other cannot spoil it. */
const [onBoth, onOne] = [Math.log(0.8), Math.log(0.1)];
/** Tolerance that keeps a limit on the grid from rounding into the next cell. */
const rounding = 1e-9;

/** Whether the log product reaches `enough` for every baseline mean, cell by cell. */
function everywhere(
  candidate: Capital,
  baseline: Capital,
  side: "above" | "below",
  limit: Limit,
  cells: number,
  enough: number,
): boolean {
  const reached = (j: number): boolean => {
    // in a cell [j, j + 1], "above": the strictest limit is at its upper end, and the least wealth on "below" at its lower
    const [near, far] = side === "above" ? [j, j + 1] : [j + 1, j];
    const x = limit(far / cells) * cells;
    if (side === "above" ? x < -rounding : x > cells + rounding) return true; // no candidate could be there
    const i = Math.min(
      cells,
      Math.max(0, side === "above" ? Math.ceil(x - rounding) : Math.floor(x + rounding)),
    );
    const [one, other] =
      side === "above"
        ? [candidate.above(i), baseline.below(near)]
        : [candidate.below(i), baseline.above(near)];
    return Math.max(one + other + onBoth, one + onOne, other + onOne) >= enough;
  };
  // checked first where the baseline probably is: if nothing is shown there, the rest need not be checked
  const seems = Math.floor(baseline.mean * cells);
  if (seems >= 0 && seems < cells && !reached(seems)) return false;
  for (let j = 0; j < cells; j++) if (!reached(j)) return false;
  return true;
}

/** Minimum units in each arm before unbounded means are tested. */
export const leastUnits = 100;

/**
 * For unbounded numbers, such as milliseconds: an asymptotic confidence sequence ("Time-uniform central limit theory and
 * asymptotic confidence sequences"), a normal mixture about mean_c − limit(mean_b), {@link unskewed} by the sample
 * skewness, since otherwise the small arm of an unequal split errs too often. Gives no result before {@link leastUnits} in
 * each arm. Limits must be linear.
 */
export function unboundedComparison(): MeanComparison {
  const [candidate, baseline] = [moments(), moments()];
  const about = (limit: Limit, alpha: number) => {
    const mean = candidate.mean - limit(baseline.mean);
    const { below, above } = reach(candidate, baseline, limit(1) - limit(0), alpha);
    return { mean, low: mean - below, high: mean + above };
  };
  return {
    see: (arm, x) => (arm === "candidate" ? candidate : baseline).see(x),
    candidate,
    baseline,
    shown: (side, limit, alpha) => {
      const { low, high } = about(limit, 2 * alpha);
      return side === "above" ? low > 0 : high < 0;
    },
    difference: (alpha) => {
      const n = candidate.n + baseline.n;
      const { mean, low, high } = about((m) => m, alpha);
      if (Number.isFinite(low)) return { mean, low, high, n };
      return { mean, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY, n };
    },
  };
}

/** Distances by which the true mean_c − slope · mean_b may lie below and above the observed one. */
function reach(candidate: Moments, baseline: Moments, slope: number, alpha: number) {
  const alone = slope === 0;
  if (candidate.n < leastUnits || (!alone && baseline.n < leastUnits)) {
    return { below: Number.POSITIVE_INFINITY, above: Number.POSITIVE_INFINITY };
  }
  const square =
    candidate.variance / candidate.n + (alone ? 0 : (slope ** 2 * baseline.variance) / baseline.n);
  const cube =
    candidate.third / candidate.n ** 2 - (alone ? 0 : (slope ** 3 * baseline.third) / baseline.n ** 2);
  const units = alone ? candidate.n : 1 / (1 / candidate.n + 1 / baseline.n);
  const error = Math.sqrt(square);
  const skewness = error > 0 ? cube / error ** 3 : 0;
  const quantile = asymptoticHalfWidth(units, alpha);
  return { below: error * unskewed(quantile, skewness), above: -error * unskewed(-quantile, skewness) };
}
