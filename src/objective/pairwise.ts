import { equal } from "../common/equal.ts";
import { logSigmoid, sigmoid } from "../common/statistics/logistic.ts";
import { pairsOf } from "../common/tokens/pairs.ts";
import type { Batch } from "../core/batch.ts";
import type { Ctx } from "../core/context.ts";
import { present } from "../core/errors.ts";
import type { Objective } from "../core/objective.ts";
import type { ModelId } from "../core/types.ts";

/** Settings of {@link pairwise}. */
export interface PairwiseOptions {
  /** The model to train. Default: the one that acted. */
  readonly model?: ModelId;
  /** Loss of a pair's margin h; see {@link pairwise}. Default "logistic". */
  readonly loss?: PairLoss;
  /** Strength β > 0 of the regularisation towards the reference. Default 0.1. */
  readonly beta?: number;
  /**
   * The reference of the log-ratios: shares of frozen models by name, and `sampled` for the policy at sampling time. {} uses
   * no reference. A function may choose anew in each iteration. Default { reference: 1 }.
   */
  readonly against?: Shares | ((ctx: Ctx) => Shares);
  /**
   * Weight λ of the rejected side in the margin, in (0, 1]; "anchored" uses 1 where S(chosen) ≥ 0, and −1 where the chosen
   * side has become less likely, so that both sides are raised. No gradient goes through the sign. Default 1.
   */
  readonly rejected?: number | "anchored";
  /** ε of "reverseKl": the label smoothing. Default 0.001. */
  readonly doubt?: number;
  /** Weight α ≥ 0 of the likelihood of the chosen side beside the loss of the margin. Default 0. */
  readonly imitation?: number;
  /** Unit that micro-batching keeps whole: "group" where pairs lie within groups, "batch" where they may lie anywhere. Default "group". */
  readonly together?: "group" | "batch";
}

/** Shares of models by name. */
export type Shares = Readonly<Record<string, number>>;

/** Loss of the margin. */
export type PairLoss = "logistic" | "squared" | "reverseKl";

interface Aux {
  /** Pairs of the whole batch. */
  readonly pairs: number;
  readonly against: Shares;
}

/**
 * Learning from pairs: a loss on the difference of two summed log-ratios.
 *
 *     S(y) = Σ_a w[a] · (logp[a] − Σ_m share[m] · logp_m[a])       over the tokens of y that are in the pair
 *     h    = S(chosen) − λ · S(rejected)
 *     "logistic"    f(h) = −ln σ(β h)
 *     "squared"     f(h) = (h − 1/(2β))²
 *     "reverseKl"   f(h) = KL((q, 1 − q) ‖ (1 − ε, ε)),  q = σ(β h)
 *     loss = 1/P Σ_pairs p · f(h) + (1 − p) · f(h with the sides swapped)        p: strength of the label, P: pairs
 *            − α/P Σ_pairs p · mean logp of chosen + (1 − p) · mean logp of rejected       means over tokens, weighed by w
 *
 * Sums over tokens, never means; TRL divides the log-ratios of "squared" by the number of tokens of each reply, which the
 * paper does not. Pairs come from the columns of `common/tokens/pairs.ts`. A pair with a token whose
 * log-probability under `sampled` is unknown is left out and counted.
 *
 * Stats, as sums: pairs, accuracy (h > 0), margin (h, nats), raised (λ < 0), unknown (pairs). Against the reference alone, where
 * it begins at 0, also chosen (S(chosen), nats) over the tokens of chosen sides: a margin also grows where the chosen side becomes
 * less likely, only more slowly than the rejected one.
 * Papers: "logistic" is "Direct Preference Optimization: Your Language Model is Secretly a Reward Model"; "squared" is
 * "A General Theoretical Paradigm to Understand Learning from Human Preferences"; "reverseKl" is "Towards Efficient Exact
 * Optimization of Language Model Alignment"; λ and no reference is "Contrastive Preference Learning: Learning from Human
 * Feedback without RL"; "anchored" is "SePPO: Semi-Policy Preference Optimization for Diffusion Alignment"; α is "Iterative Reasoning Preference
 * Optimization" (equation 2).
 */
export function pairwise(options: PairwiseOptions = {}): Objective<Aux> {
  const { loss: kind = "logistic", beta = 0.1, against = { reference: 1 }, rejected: share = 1 } = options;
  const { doubt = 1e-3, imitation = 0, together = "group" } = options;
  const f = losses[kind](beta, doubt);
  const sharesOf = (ctx: Ctx): Shares => (typeof against === "function" ? against(ctx) : against);
  const lambdaOf = (chosen: number): number => (share !== "anchored" ? share : chosen >= 0 ? 1 : -1);
  return {
    name: "pairwise",
    ...(options.model === undefined ? {} : { model: options.model }),
    together,
    wants: () => ({}),
    columns: (ctx, batch) => referenceColumns(ctx, batch, Object.keys(sharesOf(ctx))),
    prepare: async (ctx, batch) => ({ pairs: pairsOf(batch).length, against: sharesOf(ctx) }),
    evaluate: ({ logp }, batch, aux) => {
      const base_A = baseline(batch, aux.against);
      const cotangent_A = new Float32Array(logp.length);
      const sum = (side: readonly number[]): number =>
        side.reduce((s, a) => s + batch.weight_A[a]! * (logp[a]! - base_A[a]!), 0);
      const push = (side: readonly number[], slope: number): void => {
        for (const a of side) cotangent_A[a]! += (batch.weight_A[a]! * slope) / aux.pairs;
      };
      const weigh = (side: readonly number[]): number => side.reduce((s, a) => s + batch.weight_A[a]!, 0);
      const imitate = (side: readonly number[], share: number): void => {
        const weight = weigh(side);
        if (imitation * share * weight === 0) return;
        const pull = (imitation * share) / (aux.pairs * weight);
        for (const a of side) {
          stats.loss -= pull * batch.weight_A[a]! * logp[a]!;
          cotangent_A[a]! -= pull * batch.weight_A[a]!;
        }
      };
      const preferred = { "chosen/tokens": 0, tokens: 0 };
      const stats = {
        loss: 0,
        pairs: 0,
        "accuracy/pairs": 0,
        "margin/pairs": 0,
        "raised/pairs": 0,
        unknown: 0,
      };
      for (const { chosen, rejected, strength } of pairsOf(batch)) {
        const [won, lost] = [sum(chosen), sum(rejected)];
        const [lambda, mirrored] = [lambdaOf(won), lambdaOf(lost)];
        const h = won - lambda * lost;
        if (Number.isNaN(h)) {
          stats.unknown++;
          continue;
        }
        const said = f(h);
        const swapped = f(lost - mirrored * won);
        stats.loss += (strength * said.value + (1 - strength) * swapped.value) / aux.pairs;
        push(chosen, strength * said.slope - (1 - strength) * mirrored * swapped.slope);
        push(rejected, (1 - strength) * swapped.slope - strength * lambda * said.slope);
        imitate(chosen, strength);
        imitate(rejected, 1 - strength);
        stats.pairs++;
        stats["accuracy/pairs"] += Number(h > 0);
        stats["margin/pairs"] += h;
        stats["raised/pairs"] += Number(lambda < 0);
        preferred["chosen/tokens"] += won;
        preferred.tokens += weigh(chosen);
      }
      const isFixed = options.model === undefined && equal(aux.against, { reference: 1 });
      return {
        loss: stats.loss,
        cotangents: { logp: cotangent_A },
        stats: { ...stats, ...(isFixed && preferred) },
      };
    },
  };
}

/** Log-probabilities of frozen models at every target, as columns `<name>.logp`. */
async function referenceColumns(
  ctx: Ctx,
  batch: Batch,
  names: readonly string[],
): Promise<Record<string, Float32Array>> {
  const columns: Record<string, Float32Array> = {};
  for (const name of names) {
    if (name !== "sampled") columns[`${name}.logp`] = (await ctx.frozen(name).score(batch)).logp;
  }
  return columns;
}

/** Σ_m share[m] · logp_m, [A]. */
function baseline(batch: Batch, against: Shares): Float64Array {
  const out_A = new Float64Array(batch.target_A.length);
  for (const [name, share] of Object.entries(against)) {
    const logp_A =
      name === "sampled"
        ? batch.logp_A
        : present(batch.columns[`${name}.logp`], "pairwise", `column ${name}.logp`);
    for (let a = 0; a < out_A.length; a++) out_A[a]! += share * logp_A[a]!;
  }
  return out_A;
}

interface Point {
  readonly value: number;
  /** d value / d h. */
  readonly slope: number;
}

const losses: Readonly<Record<PairLoss, (beta: number, doubt: number) => (h: number) => Point>> = {
  logistic: (beta) => (h) => ({ value: -logSigmoid(beta * h), slope: -beta * sigmoid(-beta * h) }),
  squared: (beta) => (h) => ({ value: (h - 1 / (2 * beta)) ** 2, slope: 2 * (h - 1 / (2 * beta)) }),
  reverseKl: (beta, doubt) => (h) => {
    const u = beta * h;
    const [q, r] = [sigmoid(u), sigmoid(-u)];
    const [logQ, logR] = [logSigmoid(u) - Math.log1p(-doubt), logSigmoid(-u) - Math.log(doubt)];
    // d/du [q logQ + r logR] = q r (logQ − logR): the parts that come from the logarithms cancel
    return { value: q * logQ + r * logR, slope: beta * q * r * (logQ - logR) };
  },
};
