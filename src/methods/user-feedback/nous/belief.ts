/** An exact belief over independent slots: a distribution over the values of each. */

/** Probabilities of each slot's values, [values], in the order of its values. */
export type Belief = Readonly<Record<string, Float64Array>>;

/** The uniform belief: every value of a slot is equally likely. */
export const uniformBelief = (slots: Readonly<Record<string, readonly string[]>>): Belief =>
  Object.fromEntries(
    Object.entries(slots).map(([slot, { length }]) => [slot, new Float64Array(length).fill(1 / length)]),
  );

/**
 * H(b) = −Σ_slots Σ_v b(v) ln b(v), in nats: entropies of independent slots add up. 0 where all is known.
 */
export function beliefEntropy(belief: Belief): number {
  let sum = 0;
  for (const b_V of Object.values(belief)) for (const p of b_V) if (p > 0) sum -= p * Math.log(p);
  return sum;
}

/**
 * Bayes' rule on one slot: b'(v) ∝ b(v) · p(heard | v). An answer that contradicts every possible value, or concerns an
 * unknown slot, leaves the belief unchanged.
 * @param likelihood_V p(heard | v) up to a factor, [values].
 */
export function updated(belief: Belief, slot: string, likelihood_V: ArrayLike<number>): Belief {
  const before_V = Object.hasOwn(belief, slot) ? belief[slot] : undefined;
  const joint_V = before_V?.map((p, v) => p * (likelihood_V[v] ?? 0));
  const total = joint_V?.reduce((a, b) => a + b, 0) ?? 0;
  return joint_V && total > 0 ? { ...belief, [slot]: joint_V.map((p) => p / total) } : belief;
}
