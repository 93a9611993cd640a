import { ancestors, type Tensor } from "./graph.ts";

/** Compute a graph in float64, slowly, with the reference implementation of each operation. */
export function evaluate(
  outputs: readonly Tensor[],
  feeds: ReadonlyMap<Tensor, ArrayLike<number>>,
): Float64Array[] {
  const values = new Map<Tensor, Float64Array>();
  for (const t of ancestors(outputs, (t) => feeds.has(t))) {
    const fed = feeds.get(t);
    values.set(
      t,
      fed
        ? Float64Array.from(fed)
        : t.op.reference(
            t,
            t.inputs.map((x) => values.get(x)!),
          ),
    );
  }
  return outputs.map((t) => values.get(t)!);
}
