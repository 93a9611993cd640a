/** Whether a reward that is paid still stands for what it should: it may not rise while audits fall. */
import { z } from "zod";
import { mean, studentCdf } from "../common/statistics/statistics.ts";

/** Number, sum and sum of squares of what was observed. */
const moments = z.object({ n: z.number(), sum: z.number(), squares: z.number() });
type Moments = z.infer<typeof moments>;
const nothing: Moments = { n: 0, sum: 0, squares: 0 };

const block = z.object({
  /** Iterations of the run, half-open. */
  from: z.number(),
  until: z.number(),
  /** What was paid for each attempt. */
  paid: moments,
  /** What audits said of some of them. */
  audit: moments,
  /** Of each iteration, the share of different answers to a task. */
  diversity: moments.default(nothing),
  /** Of each audited attempt, 1 where what was paid is wrong by its audit, else 0. */
  noise: moments.default(nothing),
});
type Block = z.infer<typeof block>;

const alarm = z.object({
  /**
   * "audit": audits fell while what is paid rose; "collapse": answers became alike while what is paid stayed wrong; "distance": the policy is further
   * from its beginning than it may be.
   */
  why: z.enum(["audit", "collapse", "distance"]),
  /** Iterations of the run after which it was raised. */
  iteration: z.number(),
  /** Iterations, half-open, that the last block is compared with, and what was paid and audited there and of late. */
  since: z.tuple([z.number(), z.number()]),
  paid: z.tuple([z.number(), z.number()]),
  audit: z.tuple([z.number(), z.number()]),
  /** Of a collapse: diversity of answers, and share of wrong rewards, there and of late. */
  diversity: z.exactOptional(z.tuple([z.number(), z.number()])),
  noise: z.exactOptional(z.tuple([z.number(), z.number()])),
  /** Probability of such a fall by chance, corrected for all comparisons of the run; of a distance, the distance; of a collapse, the share of wrong rewards. */
  p: z.number(),
});

/** Reads a {@link WatchState} back. */
export const watchStateSchema = z.object({
  /** Blocks of iterations that are over, and the one that goes on. */
  blocks: z.array(block),
  open: block.nullable(),
  alarm: alarm.nullable(),
  /** Mean and deviation of the scores of each reward model where the run began. */
  models: z.array(z.object({ mean: z.number(), deviation: z.number() })).nullable(),
  /** Iterations after which the audits were best, where weights are kept. */
  best: z.number().nullable(),
});
/** What a watch remembers of a run: its blocks of iterations, and the alarm, if it was raised. Plain data, which is saved with the run. */
export type WatchState = z.infer<typeof watchStateSchema>;
/** Why a watch was raised: what was paid and audited before and of late, as means. */
export type WatchAlarm = z.infer<typeof alarm>;

/** Settings of {@link watched}. */
export interface WatchRule {
  /** Iterations of a block. Default 8. */
  readonly every?: number;
  /** Largest probability of an alarm in a run whose audits never fall. Default 0.05. */
  readonly error?: number;
}

/** What one iteration brings. */
export interface Watched {
  /** Iterations of the run that are done. */
  readonly iteration: number;
  /** The reward of each attempt, as it was paid. */
  readonly paid: readonly number[];
  /** What audits said of some attempts, drawn at random; higher is better. */
  readonly audits: readonly number[];
  /** Of audited attempts, 1 where what was paid is wrong by its audit, else 0. Only of labels, rewards of 0 or 1. Default: not known. */
  readonly noise?: readonly number[];
  /** Share of different answers to a task, in 0…1. Default: not known. */
  readonly diversity?: number;
}

/** A watch that has seen nothing. */
export const freshWatch: WatchState = { blocks: [], open: null, alarm: null, models: null, best: null };

/**
 * Adds an iteration. At the end of each block k (k = 2, 3, …) of iterations, it is compared with every block j before it. The alarm is
 * raised where the mean reward of block k is above that of block j, and its mean audit is below by more than chance:
 *
 *     p(j, k) = P(T ≤ t),   t = (audit_k − audit_j) / √(s²_k / n_k + s²_j / n_j)          Welch's t
 *     alarm where p(j, k) ≤ error · 6 / (π² (k − 1)²) / (k − 1)
 *
 * The levels add up to `error` over all comparisons of a run of any length (Bonferroni, Σ 1/k² = π²/6), so that in a run whose audits do
 * not fall an alarm has at most this probability. Audits count as independent: draw them from different tasks. The first alarm stays.
 * A block without two audits is compared with none.
 *
 * The alarm is also raised where answers have become alike while what is paid is as wrong as at first ({@link collapsed}).
 */
export function watched(
  state: WatchState,
  { iteration, paid, audits, noise = [], diversity }: Watched,
  { every = 8, error = 0.05 }: WatchRule = {},
): WatchState {
  const begun = state.open ?? { ...empty, from: iteration - 1, until: iteration };
  const open: Block = {
    from: begun.from,
    until: iteration,
    paid: added(begun.paid, paid),
    audit: added(begun.audit, audits),
    noise: added(begun.noise, noise),
    diversity: added(begun.diversity, diversity === undefined ? [] : [diversity]),
  };
  if (open.until - open.from < every) return { ...state, open };
  const { blocks } = state;
  const level = (error * 6) / (Math.PI * blocks.length) ** 2 / blocks.length;
  const falls = blocks
    .filter((before) => meanOf(open.paid) > meanOf(before.paid))
    .map((before) => ({ before, p: fallen(before.audit, open.audit) }));
  const worst = falls.reduce((a, b) => (b.p < a.p ? b : a), { before: open, p: 1 });
  const { before, p } = worst;
  const raised: WatchAlarm | null =
    p > level || blocks.length === 0
      ? null
      : {
          why: "audit",
          iteration,
          since: [before.from, before.until],
          paid: [meanOf(before.paid), meanOf(open.paid)],
          audit: [meanOf(before.audit), meanOf(open.audit)],
          p: (p * error) / level,
        };
  const alarm = state.alarm ?? raised ?? collapsed(blocks[0], open);
  return { ...state, blocks: [...blocks, open], open: null, alarm };
}

/** Share of wrong rewards that is never called a collapse. */
const tolerated = 0.25;

/**
 * A policy that is paid by labels of its own making, such as a majority's, becomes sure of whatever is most frequent. In the block that ended, against
 * the first:
 *
 *     diversity_k ≤ ½ diversity_1,   noise_k ≥ noise_1,   noise_k > ¼
 *
 * Where the labels are right, diversity falls too, and noise falls with it. No probability is claimed: the rule was chosen for how often it is right.
 */
function collapsed(first: Block | undefined, open: Block): WatchAlarm | null {
  if (!first) return null;
  const [diversity, noise] = [
    [meanOf(first.diversity), meanOf(open.diversity)] as [number, number],
    [meanOf(first.noise), meanOf(open.noise)] as [number, number],
  ];
  const alike = diversity[1] <= diversity[0] / 2;
  if (!alike || !(noise[1] >= noise[0]) || noise[1] <= tolerated) return null;
  return {
    why: "collapse",
    iteration: open.until,
    since: [first.from, first.until],
    paid: [meanOf(first.paid), meanOf(open.paid)],
    audit: [meanOf(first.audit), meanOf(open.audit)],
    ...{ diversity, noise, p: noise[1] },
  };
}

/** Whether the block that ended last has the best audits so far. */
export function isBestAudited({ blocks, open }: WatchState): boolean {
  const last = blocks.at(-1);
  if (open !== null || !last || last.audit.n === 0) return false;
  return blocks.every(({ audit }) => !(meanOf(audit) > meanOf(last.audit)));
}

const empty = { paid: nothing, audit: nothing, diversity: nothing, noise: nothing };
const added = ({ n, sum, squares }: Moments, xs: readonly number[]): Moments => ({
  n: n + xs.length,
  sum: xs.reduce((a, x) => a + x, sum),
  squares: xs.reduce((a, x) => a + x * x, squares),
});
const meanOf = ({ n, sum }: Moments): number => sum / n;
/** Variance of the mean. */
const errorOf = (of: Moments): number => Math.max(0, of.squares - of.n * meanOf(of) ** 2) / (of.n - 1) / of.n;

/**
 * Probability that the mean of `late` is so far below that of `early` by chance; 1 where it is not below, or cannot be told. Where all of a
 * block's audits are equal, the variance is that of both blocks together, so that a few equal labels do not count as certainty.
 */
function fallen(early: Moments, late: Moments): number {
  const drop = meanOf(late) - meanOf(early);
  if (early.n < 2 || late.n < 2 || !(drop < 0)) return 1;
  let [a, b] = [errorOf(early), errorOf(late)];
  if (a === 0 || b === 0) {
    const n = early.n + late.n;
    const both = { n, sum: early.sum + late.sum, squares: early.squares + late.squares };
    [a, b] = [(errorOf(both) * n) / early.n, (errorOf(both) * n) / late.n];
  }
  const degrees = (a + b) ** 2 / (a ** 2 / (early.n - 1) + b ** 2 / (late.n - 1));
  return studentCdf(drop / Math.sqrt(a + b), degrees);
}

/**
 * How far reward models disagree about attempts: the mean over attempts of the standard deviation of the models' scores, each less its
 * own mean in `at` and divided by its own deviation there. NaN for fewer than two models or no attempt.
 * @param scores of each model, for each attempt.
 * @param at mean and deviation of each model's scores where the run began.
 */
export function disagreement(
  scores: readonly (readonly number[])[],
  at: readonly { readonly mean: number; readonly deviation: number }[],
): number {
  const [first] = scores;
  if (!first || first.length === 0 || scores.length < 2) return Number.NaN;
  return mean(
    first.map((_, i) => {
      const own = scores.map((of, m) => (of[i]! - at[m]!.mean) / (at[m]!.deviation || 1));
      const centre = mean(own);
      return Math.sqrt(own.reduce((sum, x) => sum + (x - centre) ** 2, 0) / (own.length - 1));
    }),
  );
}
