import { selectRows } from "../common/tokens/pack.ts";
import type { Batch, RowInfo } from "../core/batch.ts";
import type { Objective } from "../core/objective.ts";
import type { Origin } from "../core/types.ts";

/** Settings of {@link restricted}. */
export interface RestrictedOptions {
  /**
   * Normaliser of the loss. "own": its own rows, so that its weight among other losses does not depend on their number.
   * "batch": the whole batch, so that losses on disjoint rows add up to one loss over all of them. Default "own".
   */
  readonly normalise?: "own" | "batch";
}

/**
 * A loss on some rows alone, e.g. one for sampled rows beside another for demonstrated ones. All other tokens get weight 0:
 * they give no loss and count in no normaliser, except with `normalise: "batch"`. Its columns are computed for its own rows
 * and are NaN elsewhere.
 * @param rows origins of the rows that count, or a predicate.
 */
export function restricted<Aux>(
  objective: Objective<Aux>,
  rows: readonly Origin[] | ((row: RowInfo) => boolean),
  { normalise = "own" }: RestrictedOptions = {},
): Objective<Aux> {
  const counts = typeof rows === "function" ? rows : ({ origin }: RowInfo) => rows.includes(origin);
  const own = (batch: Batch): number[] => [...batch.rows.keys()].filter((r) => counts(batch.rows[r]!));
  const masked = (batch: Batch): Batch => {
    const weight_A = new Float32Array(batch.weight_A.length);
    for (const r of own(batch)) {
      const [from, to] = [batch.targetOffset[r]!, batch.targetOffset[r + 1]!];
      weight_A.set(batch.weight_A.subarray(from, to), from);
    }
    return { ...batch, weight_A };
  };
  const { columns } = objective;
  return {
    ...objective,
    wants: (aux, batch) => objective.wants(aux, masked(batch)),
    prepare: (ctx, batch) => objective.prepare(ctx, normalise === "own" ? masked(batch) : batch),
    evaluate: (outputs, batch, aux) => objective.evaluate(outputs, masked(batch), aux),
    ...(columns && {
      columns: async (ctx, batch) => {
        const rows = own(batch);
        if (rows.length === 0) return {};
        const part = selectRows(batch, rows);
        const made = await columns(ctx, part);
        const spread = (xs: Float32Array): Float32Array => {
          const out_A = new Float32Array(batch.target_A.length).fill(Number.NaN);
          rows.forEach((r, i) => {
            const mine = xs.subarray(part.targetOffset[i]!, part.targetOffset[i + 1]!);
            out_A.set(mine, batch.targetOffset[r]!);
          });
          return out_A;
        };
        return Object.fromEntries(Object.entries(made).map(([name, xs]) => [name, spread(xs)]));
      },
    }),
  };
}
