/** Token credits implied by a policy that was optimised against a reference, exact on trees of all token sequences. */

/**
 * Every sequence of `depth` tokens out of `width`. Inner nodes are prefixes, numbered breadth first from 0, the empty
 * one; the node after token a of node n is n · width + 1 + a. Per-token arrays are [inner nodes, width] row-major.
 */
export interface TokenTree {
  readonly width: number;
  readonly depth: number;
  /** r(s, a). */
  readonly reward_NW: Float64Array;
  /** ln of the reference policy. */
  readonly reference_NW: Float64Array;
}

/** Number of prefixes that a token can follow. */
export function innerNodes({ width, depth }: Pick<TokenTree, "width" | "depth">): number {
  let nodes = 0;
  for (let level = 0; level < depth; level++) nodes += width ** level;
  return nodes;
}

/**
 * The policy that maximises reward minus β · KL from the reference, by backward induction:
 *
 *     Q*(s, a) = r(s, a) + β ln π_ref(a|s) + V*(s'),   V*(s) = β ln Σ_a exp(Q*(s, a) / β),   V*(end) = 0
 *     ln π*(a|s) = (Q*(s, a) − V*(s)) / β
 *
 * @param beta > 0, in the unit of the rewards.
 */
export function softOptimal(
  { width, reward_NW, reference_NW }: TokenTree,
  beta: number,
): { readonly logp_NW: Float64Array; readonly value_N: Float64Array } {
  const logp_NW = new Float64Array(reward_NW.length);
  const value_N = new Float64Array(reward_NW.length / width);
  for (let n = value_N.length - 1; n >= 0; n--) {
    const q_W = logp_NW.subarray(n * width, (n + 1) * width);
    for (let a = 0; a < width; a++) {
      const i = n * width + a;
      q_W[a] = reward_NW[i]! / beta + reference_NW[i]! + (value_N[i + 1] ?? 0) / beta;
    }
    const top = q_W.reduce((x, y) => Math.max(x, y));
    const total = top + Math.log(q_W.reduce((sum, q) => sum + Math.exp(q - top), 0));
    value_N[n] = beta * total;
    for (let a = 0; a < width; a++) q_W[a]! -= total;
  }
  return { logp_NW, value_N };
}

/** The credit that a policy implies for each token: c = β (ln π − ln π_ref), [N, W]. */
export function impliedCredits(
  logp_NW: Float64Array,
  reference_NW: Float64Array,
  beta: number,
): Float64Array {
  return logp_NW.map((lp, i) => beta * (lp - reference_NW[i]!));
}

/**
 * The credit of an optimal policy: the reward shaped by the value as potential, r(s, a) + V(s') − V(s), [N, W]. Over a
 * whole sequence it sums to Σ r − V(empty prefix).
 */
export function shapedRewards({ width, reward_NW }: TokenTree, value_N: Float64Array): Float64Array {
  return reward_NW.map((r, i) => r + (value_N[i + 1] ?? 0) - value_N[Math.floor(i / width)]!);
}

/** Probability that a policy reaches each token, [N, W]; the sum over one position is 1. */
export function visits({ width }: Pick<TokenTree, "width">, logp_NW: Float64Array): Float64Array {
  const out_NW = new Float64Array(logp_NW.length);
  for (let i = 0; i < out_NW.length; i++) {
    const n = Math.floor(i / width);
    out_NW[i] = (n === 0 ? 1 : out_NW[n - 1]!) * Math.exp(logp_NW[i]!);
  }
  return out_NW;
}

/** Weighted Pearson correlation; NaN where either does not vary. */
export function correlation(
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  weights: ArrayLike<number>,
): number {
  let [total, x0, y0] = [0, 0, 0];
  for (let i = 0; i < xs.length; i++) {
    total += weights[i]!;
    x0 += weights[i]! * xs[i]!;
    y0 += weights[i]! * ys[i]!;
  }
  let [xx, xy, yy] = [0, 0, 0];
  for (let i = 0; i < xs.length; i++) {
    const [dx, dy] = [xs[i]! - x0 / total, ys[i]! - y0 / total];
    xx += weights[i]! * dx * dx;
    xy += weights[i]! * dx * dy;
    yy += weights[i]! * dy * dy;
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : Number.NaN;
}

/** The most probable sequence by beam search of this width, as tokens. 1 is greedy; ties go to the lower token. */
export function beamSearch({ width, depth }: TokenTree, logp_NW: Float64Array, beam: number): number[] {
  let kept: readonly { tokens: number[]; node: number; logp: number }[] = [{ tokens: [], node: 0, logp: 0 }];
  for (let level = 0; level < depth; level++) {
    const grown = kept.flatMap(({ tokens, node, logp }) =>
      Array.from({ length: width }, (_, a) => ({
        tokens: [...tokens, a],
        node: node * width + 1 + a,
        logp: logp + logp_NW[node * width + a]!,
      })),
    );
    kept = grown.toSorted((a, b) => b.logp - a.logp).slice(0, beam);
  }
  return kept[0]!.tokens;
}

/** Sum of per-token numbers along a sequence. */
export function sumAlong(
  { width }: Pick<TokenTree, "width">,
  of_NW: Float64Array,
  tokens: readonly number[],
): number {
  let [node, sum] = [0, 0];
  for (const a of tokens) {
    sum += of_NW[node * width + a]!;
    node = node * width + 1 + a;
  }
  return sum;
}
