/** Softmax of one table row, in float64. */

/** ln softmax(logits), [W]. */
export function logSoftmax(logits_W: Float64Array): Float64Array {
  let top = Number.NEGATIVE_INFINITY;
  for (const x of logits_W) if (x > top) top = x;
  let sum = 0;
  for (const x of logits_W) sum += Math.exp(x - top);
  const shift = top + Math.log(sum);
  const logp_W = new Float64Array(logits_W.length);
  for (let w = 0; w < logp_W.length; w++) logp_W[w] = logits_W[w]! - shift;
  return logp_W;
}

/** −Σ p ln p in nats. */
export function entropyOf(logp_W: Float64Array): number {
  let h = 0;
  for (const lp of logp_W) if (lp > Number.NEGATIVE_INFINITY) h -= Math.exp(lp) * lp;
  return h;
}

/** Indices of the k largest, largest first; ties go to the lower index. */
export function topIndices(xs: Float64Array, k: number): number[] {
  return Array.from(xs.keys())
    .sort((a, b) => xs[b]! - xs[a]! || a - b)
    .slice(0, k);
}
