/** Traffic shares from observed rewards (Thompson sampling). */
import { WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type { Id } from "../core/types.ts";

/** Observed rewards of one version. */
export interface Seen {
  readonly version: Id;
  readonly rewards: readonly number[];
}

/** Settings of {@link thompsonSplit}. */
export interface BanditOptions {
  /** Minimum share, so that every version is still measured and no weight exceeds 1 / floor. Default 0.05. */
  readonly floor?: number;
  /** Range of the rewards; `undefined` if unbounded. Default [0, 1]. */
  readonly range?: readonly [low: number, high: number] | undefined;
  /** Number of samples from the posteriors. Default 4000. */
  readonly draws?: number;
  readonly random: Random;
}

/** Gamma(shape, 1) for shape ≥ 1, by "A Simple Method for Generating Gamma Variables". */
function gamma(shape: number, random: Random): number {
  const d = shape - 1 / 3;
  for (;;) {
    const x = random.normal();
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - random.next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** A sample from the posterior of a version's mean. */
function posterior(
  { rewards }: Seen,
  range: readonly [number, number] | undefined,
): (random: Random) => number {
  const n = rewards.length;
  const sum = rewards.reduce((so, r) => so + r, 0);
  if (range) {
    // Beta(1 + Σ x, 1 + n − Σ x); a fractional reward counts as a fraction of a success
    const won = (sum - n * range[0]) / (range[1] - range[0]);
    return (random) => {
      const [a, b] = [gamma(1 + won, random), gamma(1 + n - won, random)];
      return range[0] + ((range[1] - range[0]) * a) / (a + b);
    };
  }
  // too few to estimate the variance: any value is possible
  if (n < 2) return (random) => 1e9 * random.normal();
  const mean = sum / n;
  const error = Math.sqrt(rewards.reduce((so, r) => so + (r - mean) ** 2, 0) / (n - 1) / n);
  return (random) => mean + error * random.normal();
}

/**
 * Thompson sampling as shares: floor + (1 − K floor) · P(version is the best of K), with the probability estimated by
 * sampling the posteriors of the means: Beta for bounded rewards, normal for others ("An Empirical Evaluation of Thompson
 * Sampling"). The shares are the propensities that are logged.
 * @throws WhetstoneError `option.range` if K floors exceed 1, or a reward is outside the range.
 */
export function thompsonSplit(seen: readonly Seen[], options: BanditOptions): Record<Id, number> {
  const { floor = 0.05, draws = 4000, random } = options;
  const range = "range" in options ? options.range : ([0, 1] as const);
  if (seen.length === 0 || !(floor > 0 && floor * seen.length <= 1)) {
    throw new WhetstoneError("option.range", {
      where: "thompsonSplit",
      got: `a floor of ${floor} for ${seen.length} versions`,
      expected: "at least one version, and a floor above 0 and at most 1 over the number of versions",
      fix: `Choose a floor of at most ${(1 / Math.max(1, seen.length)).toPrecision(2)}.`,
    });
  }
  const outside = range && seen.flatMap((s) => s.rewards).find((r) => !(r >= range[0] && r <= range[1]));
  if (outside !== undefined) {
    throw new WhetstoneError("option.range", {
      where: "thompsonSplit",
      got: `a reward of ${outside}`,
      expected: `rewards from ${range?.[0]} to ${range?.[1]}`,
      fix: "Set the range of the rewards, or undefined if they are unbounded.",
    });
  }
  const posteriors = seen.map((s) => posterior(s, range));
  const wins = new Array<number>(seen.length).fill(0);
  for (let draw = 0; draw < draws; draw++) {
    const means = posteriors.map((next) => next(random));
    wins[means.indexOf(Math.max(...means))]! += 1;
  }
  return Object.fromEntries(
    seen.map(({ version }, k) => [version, floor + (1 - seen.length * floor) * (wins[k]! / draws)]),
  );
}
