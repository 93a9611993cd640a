/** Metrics induced from comments on what agents did: aspects, their clusters, and what a set of metrics explains. */
import type { Random } from "../../../core/random.ts";

/** One piece of feedback, tied to the behaviour that it is about. */
export interface Aspect {
  /** Embedding of length 1 of the behaviour and of what was said of it. */
  readonly at: Float32Array;
  /** Embedding of length 1 of the behaviour alone. */
  readonly behaviour: Float32Array;
  readonly sign: 1 | -1;
}

/** A metric: behaviours that were praised and blamed for the same reason. */
export interface Metric {
  readonly examples: readonly Pick<Aspect, "behaviour" | "sign">[];
}

/** A metric that applies to an attempt, and how the attempt does by it. */
export interface Trait {
  readonly metric: number;
  readonly rating: 1 | -1;
}

export const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, x, k) => sum + x * b[k]!, 0);

/**
 * Clusters aspects into at most `count` metrics by k-means on the sphere: centres begin far from each other, and each aspect joins the centre of
 * the highest cosine. Signs are mixed, so that a metric has good and bad examples. None without aspects.
 */
export function inducedMetrics(aspects: readonly Aspect[], count: number, random: Random): readonly Metric[] {
  if (aspects.length === 0) return [];
  const centres = [aspects[random.below(aspects.length)]!.at];
  const nearest = (at: Float32Array): number => Math.max(...centres.map((centre) => cosine(centre, at)));
  while (centres.length < Math.min(count, aspects.length)) {
    const far = aspects.reduce((a, b) => (nearest(b.at) < nearest(a.at) ? b : a));
    if (nearest(far.at) > 1 - 1e-6) break; // all that is left is said already
    centres.push(far.at);
  }
  let assigned: number[] = [];
  for (let round = 0; round < 20; round++) {
    const now = aspects.map(({ at }) => closest(centres, at));
    if (assigned.length > 0 && now.every((c, i) => c === assigned[i])) break;
    assigned = now;
    for (const [c] of centres.entries()) {
      const own = aspects.filter((_, i) => assigned[i] === c);
      if (own.length > 0) centres[c] = normalisedSum(own.map(({ at }) => at));
    }
  }
  return centres
    .map((_, c): Metric => ({ examples: aspects.filter((__, i) => assigned[i] === c) }))
    .filter(({ examples }) => examples.length > 0);
}

const closest = (centres: readonly Float32Array[], at: Float32Array): number =>
  centres.reduce((best, centre, c) => (cosine(centre, at) > cosine(centres[best]!, at) ? c : best), 0);

function normalisedSum(all: readonly Float32Array[]): Float32Array {
  const sum = Float32Array.from(all[0]!, (_, k) => all.reduce((total, v) => total + v[k]!, 0));
  const length = Math.hypot(...sum) || 1;
  return sum.map((x) => x / length);
}

/**
 * The traits of an attempt: by each metric whose most similar example has a cosine of at least `least` to one of its behaviours, the sign of
 * that example. Metrics that do not apply give none, which is not a 0.
 */
export function traitsOf(
  behaviours: readonly Float32Array[],
  metrics: readonly Metric[],
  least: number,
): readonly Trait[] {
  return metrics.flatMap(({ examples }, metric): Trait[] => {
    let [most, rating]: [number, 1 | -1] = [Number.NEGATIVE_INFINITY, 1];
    for (const example of examples)
      for (const behaviour of behaviours) {
        const similar = cosine(example.behaviour, behaviour);
        if (similar > most) [most, rating] = [similar, example.sign];
      }
    return most >= least ? [{ metric, rating }] : [];
  });
}

/** Mean rating over the metrics that apply; undefined where none does. */
export const meanRating = (traits: readonly Trait[]): number | undefined =>
  traits.length === 0 ? undefined : traits.reduce((sum, { rating }) => sum + rating, 0) / traits.length;

/** An attempt's traits beside aspects of it that nobody used to make the metrics. */
export interface Explained {
  readonly traits: readonly Trait[];
  /** Metric that each aspect belongs to, by its meaning, and its sign. */
  readonly aspects: readonly { readonly metric: number; readonly sign: 1 | -1 }[];
}

/**
 * How much of held-out feedback a set of metrics explains, and how much of what it says nobody said:
 *
 *     coverage = aspects with a trait of their metric and sign / all aspects
 *     redundancy = traits that explain no aspect / all traits                   sums over attempts; NaN without any
 *
 * Paper: "AutoLibra: Agent Metric Induction from Open-Ended Feedback".
 */
export function explained(attempts: readonly Explained[]): {
  readonly coverage: number;
  readonly redundancy: number;
} {
  let [covered, aspects, used, traits] = [0, 0, 0, 0];
  for (const attempt of attempts) {
    const matched = attempt.aspects.map(({ metric, sign }) =>
      attempt.traits.findIndex((trait) => trait.metric === metric && trait.rating === sign),
    );
    covered += matched.filter((m) => m >= 0).length;
    aspects += matched.length;
    used += new Set(matched.filter((m) => m >= 0)).size;
    traits += attempt.traits.length;
  }
  return { coverage: covered / aspects, redundancy: (traits - used) / traits };
}

/** The metric that an aspect belongs to: that of its most similar example. */
export const metricOf = (aspect: Pick<Aspect, "behaviour">, metrics: readonly Metric[]): number =>
  metrics.reduce(
    (best, { examples }, metric) => {
      const most = Math.max(...examples.map(({ behaviour }) => cosine(behaviour, aspect.behaviour)));
      return most > best.most ? { metric, most } : best;
    },
    { metric: -1, most: Number.NEGATIVE_INFINITY },
  ).metric;
