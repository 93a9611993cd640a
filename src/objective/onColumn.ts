import type { Batch } from "../core/batch.ts";
import type { Objective } from "../core/objective.ts";

/**
 * A loss on some tokens alone: a column of 0 and 1 multiplies their weights, so that the others give no loss and count in no
 * normaliser. Without the column it is the loss itself.
 * Paper: "Learning More with Less: A Dynamic Dual-Level Down-Sampling Framework for Efficient Policy Optimization".
 */
export function onColumn<Aux>(objective: Objective<Aux>, column: string): Objective<Aux> {
  const masked = (batch: Batch): Batch => {
    const factor_A = batch.columns[column];
    if (!factor_A) return batch;
    // rows without the column are whole
    const weight_A = batch.weight_A.map((w, a) => (Number.isNaN(factor_A[a]!) ? w : w * factor_A[a]!));
    return { ...batch, weight_A };
  };
  return {
    ...objective,
    wants: (aux, batch) => objective.wants(aux, masked(batch)),
    prepare: (ctx, batch) => objective.prepare(ctx, masked(batch)),
    evaluate: (outputs, batch, aux) => objective.evaluate(outputs, masked(batch), aux),
  };
}
