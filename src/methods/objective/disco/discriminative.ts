import type { Batch } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Objective } from "../../../core/objective.ts";
import { oldColumn, oldLogp } from "../../../objective/clippedRatio.ts";
import { rowOfTarget } from "../../../objective/normaliser.ts";

/** Settings of {@link discriminative}. */
export interface DiscriminativeOptions {
  /** Score of an answer: its mean log-probability, or the mean of its ratios to the sampling policy. Default "logp". */
  readonly score?: "logp" | "ratio";
  /** Temperature τ of the soft maximum over wrong answers, in units of the score; Infinity takes their mean. Default 10. */
  readonly temperature?: number;
  /** β, coefficient of the hinge on the KL divergence from the sampling policy, per nat. Default 1000. */
  readonly hinge?: number;
  /** δ, divergence without penalty, nats per token. Default 1e-4. */
  readonly budget?: number;
}

interface Aux {
  /** Number of groups in the whole batch, including those without a gradient. */
  readonly groups: number;
  /** Tokens that count towards the divergence, by weight. */
  readonly tokens: number;
  /** β · max(KL − δ, 0), with the divergence before the step. */
  readonly pull: number;
}

/**
 * Scores right answers above wrong ones, with a bound on the divergence from the sampling policy.
 *
 *     s(y) = mean_a logp[a]   or   mean_a exp(logp[a] − old[a])                    over the weighted tokens of y
 *     J_q  = mean_{y right} s(y) − τ · ln mean_{y wrong} exp(s(y) / τ)             wrong ones of high score count most
 *     KL   = mean_a (old[a] − logp[a])                                             over all weighted tokens of the batch
 *     loss = −1/Q Σ_q J_q + stop[β · max(KL − δ, 0)] · KL                          Q: all questions of the batch
 *
 * Right answers are those with a positive advantage, wrong ones those with a negative one; the magnitude is ignored. A
 * question without both has no gradient but counts in Q. So every mixed question has the same weight, where the
 * group-normalised advantage weights it by √(p(1 − p)). At the sampling policy the hinge is zero: it needs several steps
 * per batch. A token without an old log-probability is left out. Each `prepare` scores its batch once more.
 *
 * Stats, as sums: tokens, kl (nats), margin (mean score of right minus that of wrong ones), questions (mixed ones).
 * Paper: "DisCO: Reinforcing Large Reasoning Models with Discriminative Constrained Optimization".
 */
export function discriminative(options: DiscriminativeOptions = {}): Objective<Aux> {
  const { score = "logp", temperature = 10, hinge = 1000, budget = 1e-4 } = options;
  return {
    name: "discriminative",
    together: "group",
    wants: () => ({}),
    columns: async (ctx, batch) => ({ [oldColumn]: await oldLogp(ctx, batch) }),
    prepare: async (ctx, batch) => {
      const { kl, tokens } = divergence(batch, await scored(ctx, batch));
      const mean = tokens > 0 ? kl / tokens : 0;
      const groups = new Set(batch.rows.map((row) => row.group)).size;
      return { groups, tokens, pull: hinge * Math.max(mean - budget, 0) };
    },
    evaluate: ({ logp }, batch, { groups, tokens, pull }) => {
      const old_A = batch.columns[oldColumn] ?? batch.behaviour_A;
      const cotangent_A = new Float64Array(logp.length);
      const { kl, places } = divergence(batch, logp);
      for (const a of places) cotangent_A[a]! -= (pull * batch.weight_A[a]!) / tokens;
      const stats = { loss: 0, tokens: places.length, "kl/tokens": kl, "margin/questions": 0, questions: 0 };
      stats.loss = tokens > 0 ? (pull * kl) / tokens : 0;
      for (const answers of answersOf(batch, places)) {
        const scores = answers.map(({ places: own, weight }) =>
          own.reduce((sum, a) => {
            const of = score === "logp" ? logp[a]! : Math.exp(logp[a]! - old_A[a]!);
            return sum + (batch.weight_A[a]! * of) / weight;
          }, 0),
        );
        const side = (sign: number): number[] =>
          [...answers.keys()].filter((i) => Math.sign(answers[i]!.advantage) === sign);
        const [right, wrong] = [side(1), side(-1)];
        if (right.length === 0 || wrong.length === 0) continue;
        const soft = softMaximum(
          wrong.map((i) => scores[i]!),
          temperature,
        );
        const mean = right.reduce((sum, i) => sum + scores[i]! / right.length, 0);
        stats.loss -= (mean - soft.value) / groups;
        stats.questions++;
        stats["margin/questions"] += mean - wrong.reduce((sum, i) => sum + scores[i]! / wrong.length, 0);
        const push = (i: number, slope: number): void => {
          const { places: own, weight } = answers[i]!;
          for (const a of own) {
            const inner = score === "logp" ? 1 : Math.exp(logp[a]! - old_A[a]!);
            cotangent_A[a]! -= (slope * inner * batch.weight_A[a]!) / (weight * groups);
          }
        };
        for (const i of right) push(i, 1 / right.length);
        for (const [k, i] of wrong.entries()) push(i, -soft.shares[k]!);
      }
      return { loss: stats.loss, cotangents: { logp: Float32Array.from(cotangent_A) }, stats };
    },
  };
}

/** One answer: the tokens of a unit, which may be several rows. */
interface Answer {
  readonly places: readonly number[];
  /** Sum of its tokens' weights, above 0. */
  readonly weight: number;
  readonly advantage: number;
}

/** Answers by question. @param places the tokens that count. */
function answersOf(batch: Batch, places: readonly number[]): Answer[][] {
  const row_A = rowOfTarget(batch);
  const byGroup = Map.groupBy(places, (a) => batch.rows[row_A[a]!]!.group);
  return [...byGroup.values()].map((inGroup) =>
    [...Map.groupBy(inGroup, (a) => batch.rows[row_A[a]!]!.unit).values()].map((own) => ({
      places: own,
      weight: own.reduce((sum, a) => sum + batch.weight_A[a]!, 0),
      advantage: batch.advantage_A[own[0]!]!,
    })),
  );
}

/** The weighted sum of old − logp, and the tokens that it is over. */
function divergence(batch: Batch, logp: ArrayLike<number>) {
  const old_A = batch.columns[oldColumn] ?? batch.behaviour_A;
  const places = [...batch.weight_A.keys()].filter((a) => batch.weight_A[a]! > 0 && !Number.isNaN(old_A[a]!));
  let [kl, tokens] = [0, 0];
  for (const a of places) {
    kl += batch.weight_A[a]! * (old_A[a]! - logp[a]!);
    tokens += batch.weight_A[a]!;
  }
  return { kl, tokens, places };
}

const scored = async (ctx: Ctx, batch: Batch): Promise<Float32Array> =>
  (await ctx.model(batch.rows[0]?.model).score(batch)).logp;

/** τ · ln mean exp(x / τ), and its gradient: weights that sum to 1. */
function softMaximum(xs: readonly number[], temperature: number) {
  const mean = xs.reduce((sum, x) => sum + x / xs.length, 0);
  if (temperature === Number.POSITIVE_INFINITY) return { value: mean, shares: xs.map(() => 1 / xs.length) };
  const top = Math.max(...xs);
  const raised = xs.map((x) => Math.exp((x - top) / temperature));
  const total = raised.reduce((sum, x) => sum + x, 0);
  return { value: top + temperature * Math.log(total / xs.length), shares: raised.map((x) => x / total) };
}
