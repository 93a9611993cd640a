import type { Batch } from "../core/batch.ts";
import { present } from "../core/errors.ts";
import type { Objective } from "../core/objective.ts";
import type { ModelId } from "../core/types.ts";
import { type Normaliser, scales, type Totals, totalsOf } from "./normaliser.ts";

/** Settings of {@link valueRegression}. */
export interface ValueRegressionOptions {
  /** The model to train. Default "critic". */
  readonly model?: ModelId;
  /** Its value head. Default "value". */
  readonly head?: string;
  /** Batch column with the targets; NaN at tokens without one, so that a turn-level critic has one target per turn. Default "return". */
  readonly column?: string;
  /** Factor of the loss. Default 1. */
  readonly coefficient?: number;
  /** Default "tokens": the mean over all tokens that have a target. */
  readonly normaliser?: Normaliser;
}

/**
 * Squared error of a critic's head at every action token that has a target.
 *
 *     loss = coefficient · Σ_a w[a]/N · ½ (V[a] − target[a])²
 *
 * Advantages are not used. Stats, as sums: tokens, value, error (squared, not halved).
 * Paper: "Proximal Policy Optimization Algorithms"; without the value clipping of its code, which "What Matters In
 * On-Policy Reinforcement Learning? A Large-Scale Empirical Study" found to be of no use; verl clips.
 */
export function valueRegression(options: ValueRegressionOptions = {}): Objective<Totals> {
  const { model = "critic", head = "value", column = "return", normaliser = "tokens" } = options;
  const { coefficient = 1 } = options;
  const targetsOf = (batch: Batch): Float32Array =>
    present(batch.columns[column], "valueRegression", `column "${column}"`);
  const countsIn = (batch: Batch): ((a: number) => boolean) => {
    const target_A = targetsOf(batch);
    return (a) => !Number.isNaN(target_A[a]!);
  };
  return {
    name: "valueRegression",
    together: "row",
    model,
    wants: () => ({ heads: [head] }),
    prepare: async (_ctx, batch) => totalsOf(batch, countsIn(batch)),
    evaluate: ({ heads }, batch, totals) => {
      const value_A = present(heads[head], "valueRegression", `head "${head}"`);
      const target_A = targetsOf(batch);
      const scale_A = scales(batch, normaliser, totals, countsIn(batch));
      const cotangent_A = new Float32Array(value_A.length);
      let loss = 0;
      let tokens = 0;
      let sum = 0;
      let square = 0;
      for (let a = 0; a < value_A.length; a++) {
        if (scale_A[a] === 0) continue;
        const error = value_A[a]! - target_A[a]!;
        cotangent_A[a] = coefficient * scale_A[a]! * error;
        loss += (coefficient * scale_A[a]! * error ** 2) / 2;
        sum += value_A[a]!;
        square += error ** 2;
        tokens++;
      }
      const stats = { loss, tokens, "value/tokens": sum, "error/tokens": square };
      return { loss, cotangents: { heads: { [head]: cotangent_A } }, stats };
    },
  };
}
