/**
 * Preference strength, and what becomes of labels by it.
 * Paper: "Secrets of RLHF in Large Language Models Part II: Reward Modeling".
 */
import { type Random, shuffled } from "../../../core/random.ts";

/** The margins r(chosen) − r(rejected) that an ensemble gives to a pair. */
export interface Strength {
  readonly mean: number;
  readonly deviation: number;
}

/**
 * Strengths of `count` pairs by an ensemble in which nobody judges a pair that it has seen: each member splits the pairs at random into
 * halves, and a model of one half judges the other. Members that had learnt the labels by heart would find all of them right.
 * @param fit fits a model to some pairs, by index; it returns the margin of any pair.
 */
export function crossFittedStrengths(
  count: number,
  members: number,
  random: Random,
  fit: (pairs: readonly number[], random: Random) => (pair: number) => number,
): Strength[] {
  const margins: number[][] = Array.from({ length: count }, () => []);
  const all = Array.from({ length: count }, (_, i) => i);
  for (let m = 0; m < members; m++) {
    const own = random.split("member", m);
    const order = shuffled(all, own.split("halves"));
    const halves = [order.slice(0, count >> 1), order.slice(count >> 1)] as const;
    for (const [h, half] of halves.entries()) {
      const margin = fit(half, own.split("fit", h));
      for (const pair of halves[1 - h]!) margins[pair]!.push(margin(pair));
    }
  }
  return margins.map((own) => {
    const mean = own.reduce((sum, x) => sum + x / own.length, 0);
    return { mean, deviation: Math.sqrt(own.reduce((sum, x) => sum + (x - mean) ** 2 / own.length, 0)) };
  });
}

/** Shares of all pairs, from the weakest on. */
export interface TreatmentOptions {
  /** Pairs that are flipped, where their strength is clearly negative. Default 0.2. */
  readonly flip?: number;
  /** Pairs after these that get soft labels. Default 0.2. */
  readonly soft?: number;
  /** Whether the others must be ahead by their strength. Default true. */
  readonly margins?: boolean;
}

/** What becomes of a label; the fields of a pair of `pairLoss`. */
export interface Treated {
  readonly flipped: boolean;
  readonly doubt: number;
  readonly margin: number;
}

/**
 * By rank of μ, from below: the first share is flipped where μ < −σ; the next is ambiguous, with doubt a = σ(−μ), at most ½, and no
 * margin; all others keep their label and have the margin max(0, μ). A flipped pair has the strength −μ.
 *
 * Pairs of the first share with μ ≥ −σ, which the ensemble does not call wrong clearly enough, keep their label without doubt and with the
 * margin 0, although some are nearer to 0 than those with soft labels: the shares go by rank.
 */
export function treatedLabels(strengths: readonly Strength[], options: TreatmentOptions = {}): Treated[] {
  const { flip = 0.2, soft = 0.2, margins = true } = options;
  const order = strengths.map((_, i) => i).sort((a, b) => strengths[a]!.mean - strengths[b]!.mean);
  const [low, high] = [Math.round(flip * order.length), Math.round((flip + soft) * order.length)];
  const rank = new Map(order.map((pair, at) => [pair, at]));
  return strengths.map(({ mean, deviation }, pair) => {
    const at = rank.get(pair)!;
    const flipped = at < low && mean < -deviation;
    if (!flipped && at >= low && at < high)
      return { flipped, doubt: Math.min(0.5, 1 / (1 + Math.exp(mean))), margin: 0 };
    return { flipped, doubt: 0, margin: margins ? Math.max(0, flipped ? -mean : mean) : 0 };
  });
}
