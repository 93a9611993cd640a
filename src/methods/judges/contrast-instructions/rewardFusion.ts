/** Smooths rewards at inference by the model's own rewards of near training replies (RewardFusion). */

/** A training reply as the reward model sees it: its hidden state, and its reward. */
export interface KnownReply {
  readonly hidden: ArrayLike<number>;
  readonly reward: number;
}

/** Settings of {@link fusedReward}. */
export interface FusionOptions {
  /** α in [0, 1]: share of the neighbours' rewards. Default 0.3. */
  readonly share?: number;
  /** Number of neighbours. Default 8. */
  readonly neighbours?: number;
  /** Of the softmax over similarities. Default 0.1. */
  readonly temperature?: number;
}

/**
 *     r̃ = (1 − α) r + α Σ_j w_j r_j,     w = softmax(cos(h, h_j) / temperature) over the nearest training replies
 *
 * r where nothing is known.
 */
export function fusedReward(
  { hidden, reward }: KnownReply,
  known: readonly KnownReply[],
  { share = 0.3, neighbours = 8, temperature = 0.1 }: FusionOptions = {},
): number {
  const near = known
    .map((other) => ({ reward: other.reward, similarity: cosine(hidden, other.hidden) }))
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, neighbours);
  const nearest = near[0];
  if (!nearest) return reward;
  let [sum, total] = [0, 0];
  for (const other of near) {
    const weight = Math.exp((other.similarity - nearest.similarity) / temperature);
    sum += weight * other.reward;
    total += weight;
  }
  return (1 - share) * reward + (share * sum) / total;
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    ab += a[i]! * b[i]!;
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
  }
  return aa === 0 || bb === 0 ? 0 : ab / Math.sqrt(aa * bb);
}
