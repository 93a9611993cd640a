/**
 * Constraints that open a gate, and behaviours that count as far as it is open.
 * Paper: "Aligning Large Language Models with Searcher Preferences".
 */

/**
 * A smoothed geometric mean of constraints in [0, 1]:
 *
 *     B = (Π_k (b_k + δ))^(1/K) − δ
 *
 * 1 where all are met. One that is broken leaves about δ^(1/K); with δ = 0 it leaves nothing, and where all attempts break one, no
 * difference to learn from. 1 without constraints.
 */
export function gate(constraints: readonly number[], smoothing: number): number {
  if (constraints.length === 0) return 1;
  const product = constraints.reduce((all, b) => all * (b + smoothing), 1);
  return product ** (1 / constraints.length) - smoothing;
}

/**     R = B · U,   U = mean of the behaviours in [0, 1], each by its weight */
export function gated(
  constraints: readonly number[],
  behaviours: readonly { readonly value: number; readonly weight?: number }[],
  smoothing: number,
): number {
  const total = behaviours.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const utility = behaviours.reduce((sum, { value, weight = 1 }) => sum + (weight / total) * value, 0);
  return gate(constraints, smoothing) * utility;
}
