import type { Batch } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Objective } from "../../../core/objective.ts";
import { shuffled } from "../../../core/random.ts";
import { type ClippedRatioOptions, clippedRatio, oldColumn } from "../../../objective/clippedRatio.ts";
import { scales } from "../../../objective/normaliser.ts";

/** Treatment of the tokens that reduce entropy most. */
export type Remedy =
  /** Clip-Cov: a random `share` of all tokens, drawn from those with a covariance between `from` and `to`, is left out. */
  | { readonly kind: "clip"; readonly share: number; readonly from: number; readonly to: number }
  /** KL-Cov: the `share` of all tokens with the largest covariance gets a penalty of `coefficient` per nat of change. */
  | { readonly kind: "kl"; readonly share: number; readonly coefficient: number };

/** Settings of {@link covarianceRatio}. */
export interface CovarianceRatioOptions extends Pick<ClippedRatioOptions, "clip" | "normaliser"> {
  readonly remedy: Remedy;
}

interface Aux<Inner> {
  readonly inner: Inner;
  /** 1 where the remedy applies, over the batch of `prepare`. */
  readonly chosen_A: Uint8Array;
}

/**
 * Ratios of new to old probabilities, with a limit on the few tokens whose covariance of log-probability and advantage
 * is largest: of a softmax policy, the entropy falls by that covariance at each step.
 *
 *     c[a] = (A[a] − mean A) · (logp[a] − mean logp)      over all weighted tokens of the update's batch, no gradient
 *     clip: loss[a] = 0 on max(1, ⌊share · N⌋) tokens drawn from { from < c < to, not stopped by the ratio's clip }
 *     kl:   loss[a] = −ρ[a] · A[a] + coefficient · |logp[a] − old[a]| on the max(1, ⌊share · N⌋) tokens of largest c
 *
 * All other tokens have {@link clippedRatio}'s loss, per token. At the sampling policy, |logp − old| has no gradient:
 * with one step per batch "kl" does nothing. `from` and `to` are in units of advantage times nats. Where advantages or
 * log-probabilities are all equal, no token is chosen. Each `prepare` scores its batch once more.
 *
 * Stats: those of clippedRatio, and chosen, a sum.
 * Paper: "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models".
 */
export function covarianceRatio(options: CovarianceRatioOptions) {
  const { remedy, normaliser = "tokens", clip = 0.2 } = options;
  const ratio = clippedRatio({ clip, normaliser });
  const { low, high } = typeof clip === "number" ? { low: clip, high: clip } : clip;
  type Inner = Awaited<ReturnType<typeof ratio.prepare>>;
  const objective: Objective<Aux<Inner>> = {
    ...ratio,
    name: "covarianceRatio",
    wants: () => ({}),
    prepare: async (ctx, batch) => ({
      inner: await ratio.prepare(ctx, batch),
      chosen_A: await choose(ctx, batch, remedy, { low, high }),
    }),
    evaluate: (outputs, batch, { inner, chosen_A }) => {
      const isChosen = (a: number): boolean => chosen_A[batch.index_A[a]!] === 1;
      const kept = remedy.kind === "kl" ? batch : { ...batch, advantage_A: without(batch, isChosen) };
      const made = ratio.evaluate(outputs, kept, inner);
      const cotangent_A = made.cotangents.logp!.slice();
      const scale_A = scales(batch, normaliser, inner.totals);
      const old_A = oldOf(batch);
      let { loss } = made;
      let chosen = 0;
      for (let a = 0; a < scale_A.length; a++) {
        if (!isChosen(a)) continue;
        chosen++;
        if (remedy.kind === "clip") continue;
        const moved = outputs.logp[a]! - old_A[a]!;
        loss += remedy.coefficient * scale_A[a]! * Math.abs(moved);
        cotangent_A[a]! += remedy.coefficient * scale_A[a]! * Math.sign(moved);
      }
      return { loss, cotangents: { logp: cotangent_A }, stats: { ...made.stats, loss, chosen } };
    },
  };
  return objective;
}

const oldOf = (batch: Batch): Float32Array => batch.columns[oldColumn] ?? batch.behaviour_A;

const without = (batch: Batch, isOut: (a: number) => boolean): Float32Array =>
  batch.advantage_A.map((advantage, a) => (isOut(a) ? 0 : advantage));

/**
 * Each token's term of the covariance of advantage and log-probability, [A]; its mean over the tokens that count is
 * the covariance itself. NaN where a token does not count.
 */
export function tokenCovariance(
  advantage_A: ArrayLike<number>,
  logp_A: ArrayLike<number>,
  counts: (a: number) => boolean = () => true,
): Float64Array {
  const places = Array.from(logp_A, (_, a) => a).filter(counts);
  const meanOf = (xs: ArrayLike<number>): number =>
    places.reduce((sum, a) => sum + xs[a]! / places.length, 0);
  const [advantage, logp] = [meanOf(advantage_A), meanOf(logp_A)];
  const out_A = new Float64Array(logp_A.length).fill(Number.NaN);
  for (const a of places) out_A[a] = (advantage_A[a]! - advantage) * (logp_A[a]! - logp);
  return out_A;
}

async function choose(
  ctx: Ctx,
  batch: Batch,
  remedy: Remedy,
  bounds: { readonly low: number; readonly high: number },
): Promise<Uint8Array> {
  const model = ctx.model(batch.rows[0]?.model);
  const { logp } = await model.score(batch);
  const old_A = oldOf(batch);
  const covariance_A = tokenCovariance(
    batch.advantage_A,
    logp,
    (a) => batch.weight_A[a]! > 0 && !Number.isNaN(old_A[a]!),
  );
  const counted = [...covariance_A.keys()].filter((a) => !Number.isNaN(covariance_A[a]!));
  const isStopped = (a: number): boolean => {
    const [ratio, advantage] = [Math.exp(logp[a]! - old_A[a]!), batch.advantage_A[a]!];
    return advantage > 0 ? ratio > 1 + bounds.high : ratio < 1 - bounds.low;
  };
  const by = (a: number): number => covariance_A[a]!;
  const order =
    remedy.kind === "kl"
      ? counted.filter((a) => by(a) > 0).toSorted((a, b) => by(b) - by(a))
      : shuffled(
          counted.filter((a) => by(a) > remedy.from && by(a) < remedy.to && !isStopped(a)),
          ctx.random.split("covarianceRatio", model.version),
        );
  const chosen_A = new Uint8Array(logp.length);
  for (const a of order.slice(0, Math.max(1, Math.floor(remedy.share * counted.length)))) chosen_A[a] = 1;
  return chosen_A;
}
