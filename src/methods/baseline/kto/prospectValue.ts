import { sigmoid } from "../../../common/statistics/logistic.ts";
import { type Batch, rowCount } from "../../../core/batch.ts";
import { present } from "../../../core/errors.ts";
import type { Objective } from "../../../core/objective.ts";

/** Settings of {@link prospectValue}. */
export interface ProspectValueOptions {
  /** β, how fast the value of a log-ratio saturates, per nat, > 0. Default 0.1. */
  readonly beta?: number;
  /** Weight of desirable sequences, λ_D. Default 1. */
  readonly desirable?: number;
  /** Weight of undesirable sequences, λ_U. Default 1. */
  readonly undesirable?: number;
  /** Name of the frozen model to compare with. Default "reference". */
  readonly to?: string;
}

interface Aux {
  /** z₀, nats. */
  readonly point: number;
  /** Number of good or bad rows in the whole batch. */
  readonly rows: number;
}

/**
 * Learning from single replies that are good or bad, by Kahneman and Tversky's value of a gain or loss:
 *
 *     r(y)  = Σ_a w[a] · (logp[a] − reference[a])
 *     z₀    = max(0, mean over the batch of r at the policy that sampled)      estimates KL(π ‖ reference); no gradient
 *     loss  = 1/R Σ_rows  λ_D · (1 − σ(β (r − z₀)))    where the row's advantage is above 0
 *                         λ_U · (1 − σ(β (z₀ − r)))    where it is below
 *
 * A row is one sequence; a row without an advantage is left out of the loss, but not of z₀. The paper estimates z₀ on
 * replies to other prompts, because its data is off-policy; here the samples are the policy's own and are used directly. Given those
 * samples, loss and gradient equal TRL's.
 * Rows whose sampling log-probabilities are unknown do not count in z₀; without any known row, z₀ is 0.
 *
 * Stats, as sums: rows, good, value (1 − loss per row, at weights of 1).
 * Paper: "KTO: Model Alignment as Prospect Theoretic Optimization".
 */
export function prospectValue(options: ProspectValueOptions = {}): Objective<Aux> {
  const { beta = 0.1, desirable = 1, undesirable = 1, to = "reference" } = options;
  const column = `${to}.logp`;
  return {
    name: "prospectValue",
    together: "row",
    wants: () => ({}),
    columns: async (ctx, batch) => ({ [column]: (await ctx.frozen(to).score(batch)).logp }),
    prepare: async (_ctx, batch) => {
      const reference_A = present(batch.columns[column], "prospectValue", `column ${column}`);
      const known = sequences(batch)
        .map((row) => logRatio(batch, batch.logp_A, reference_A, row))
        .filter((r) => !Number.isNaN(r));
      const sum = known.reduce((a, b) => a + b, 0);
      return {
        point: Math.max(0, sum / Math.max(1, known.length)),
        rows: sequences(batch).filter((row) => row.sign !== 0).length,
      };
    },
    evaluate: ({ logp }, batch, { point, rows }) => {
      const reference_A = present(batch.columns[column], "prospectValue", `column ${column}`);
      const cotangent_A = new Float32Array(logp.length);
      const stats = { loss: 0, rows: 0, "good/rows": 0, "value/rows": 0 };
      for (const row of sequences(batch)) {
        if (row.sign === 0) continue;
        const r = logRatio(batch, logp, reference_A, row);
        const worth = sigmoid(row.sign * beta * (r - point));
        const weight = (row.sign > 0 ? desirable : undesirable) / rows;
        const slope = -weight * row.sign * beta * worth * (1 - worth);
        for (let a = row.from; a < row.to; a++) cotangent_A[a] = batch.weight_A[a]! * slope;
        stats.loss += weight * (1 - worth);
        stats.rows++;
        stats["good/rows"] += Number(row.sign > 0);
        stats["value/rows"] += worth;
      }
      return { loss: stats.loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}

interface Sequence {
  readonly from: number;
  readonly to: number;
  /** 1 good, −1 bad, 0 neither: the sign of the first advantage that has a weight. */
  readonly sign: number;
}

/** Rows that have any weight. */
function sequences(batch: Batch): Sequence[] {
  return Array.from({ length: rowCount(batch) }, (_, r): Sequence[] => {
    const [from, to] = [batch.targetOffset[r]!, batch.targetOffset[r + 1]!];
    for (let a = from; a < to; a++) {
      if (batch.weight_A[a] !== 0) return [{ from, to, sign: Math.sign(batch.advantage_A[a]!) }];
    }
    return [];
  }).flat();
}

/** Σ_a w[a] (logp[a] − reference[a]) over a row; tokens without a weight need no value. */
function logRatio(
  batch: Batch,
  logp_A: Float32Array,
  reference_A: Float32Array,
  { from, to }: Sequence,
): number {
  let sum = 0;
  for (let a = from; a < to; a++) {
    if (batch.weight_A[a] !== 0) sum += batch.weight_A[a]! * (logp_A[a]! - reference_A[a]!);
  }
  return sum;
}
