/** Softmax of one table row, in float64. */

/** ln softmax(logits), [W]. */
export function logSoftmax(logits_W: Float64Array): Float64Array {
  let top = Number.NEGATIVE_INFINITY;
  for (const x of logits_W) top = Math.max(top, x);
  let sum = 0;
  for (const x of logits_W) sum += Math.exp(x - top);
  const shift = top + Math.log(sum);
  return logits_W.map((x) => x - shift);
}

/** −Σ p ln p in nats. */
export function entropyOf(logp_W: Float64Array): number {
  let h = 0;
  for (const lp of logp_W) if (lp > Number.NEGATIVE_INFINITY) h -= Math.exp(lp) * lp;
  return h;
}

/** Indices of the k largest, largest first, the lower index on a tie. */
export function topIndices(xs: Float64Array, k: number): number[] {
  return Array.from(xs.keys())
    .sort((a, b) => xs[b]! - xs[a]! || a - b)
    .slice(0, k);
}
