/** Divergence between the next-token distributions of a student and a teacher, over k ids and one bucket for all other ids. */

/**
 * Divergence between teacher q and student p. "forward": KL(q ‖ p), which is mode-covering; "reverse": KL(p ‖ q), which is
 * mode-seeking; `{ jensenShannon: α }`, with α in (0, 1) and m = (1 − α) p + α q: (1 − α) KL(p ‖ m) + α KL(q ‖ m). The last
 * one shrinks to 0 as α → 0 or 1, so it does not interpolate between the first two, and each α needs its own step size.
 * `{ softened: T }` is a forward KL between distributions over the ids alone whose logits are divided by T > 0, times T² so
 * that gradients keep their scale:
 *
 *     T² KL(softmax(ln q / T) ‖ softmax(ln p / T))          no bucket: the ids should be (nearly) the whole vocabulary
 *
 * which at T > 1 gives more weight to unlikely ids ("Distilling the Knowledge in a Neural Network").
 */
export type DivergenceKind =
  | "forward"
  | "reverse"
  | { readonly jensenShannon: number }
  | { readonly softened: number };

/** A divergence at one token, in nats, and its slopes ∂D/∂ln p[j], [k]. */
export interface DivergenceAt {
  readonly value: number;
  readonly slope_K: Float64Array;
}

/** Smallest mass of the bucket: the rounding error of float32 log-probabilities when the ids are the whole vocabulary. */
const leastTail = 1e-6;

/**
 * D between the distributions (e^q[0] … e^q[k − 1], rest) and (e^p[0] …, rest). Where the rests vanish, slopes are exact up
 * to a multiple of p, which a softmax cancels.
 * @param p_K the student's log-probabilities at k different ids, over the whole vocabulary.
 * @param q_K the teacher's at the same ids.
 */
export function divergenceAt(
  kind: DivergenceKind,
  p_K: ArrayLike<number>,
  q_K: ArrayLike<number>,
): DivergenceAt {
  if (typeof kind === "object" && "softened" in kind) return softenedAt(kind.softened, p_K, q_K);
  const [p_tail, q_tail] = [tailOf(p_K), tailOf(q_K)];
  const term = terms(kind);
  const tail = term(p_tail, q_tail, Math.log(p_tail), Math.log(q_tail));
  const slope_K = new Float64Array(p_K.length);
  let value = tail.value;
  for (let j = 0; j < slope_K.length; j++) {
    const p = Math.exp(p_K[j]!);
    const own = term(p, Math.exp(q_K[j]!), p_K[j]!, q_K[j]!);
    value += own.value;
    // the bucket loses the mass that the id gains: ∂p[tail]/∂ln p[j] = −p[j]
    slope_K[j] = own.slope - (p / p_tail) * tail.slope;
  }
  return { value, slope_K };
}

function softenedAt(T: number, p_K: ArrayLike<number>, q_K: ArrayLike<number>): DivergenceAt {
  const [logp_K, logq_K] = [softened(p_K, T), softened(q_K, T)];
  let value = 0;
  const slope_K = logp_K.map((logp, j) => {
    const q = Math.exp(logq_K[j]!);
    if (q > 0) value += T * T * q * (logq_K[j]! - logp);
    // ∂/∂u of KL between softmaxes is p − q, and u = ln p / T
    return T * (Math.exp(logp) - q);
  });
  return { value, slope_K };
}

/** ln softmax(x / T). */
function softened(x_K: ArrayLike<number>, T: number): Float64Array {
  const u_K = Float64Array.from(x_K, (x) => x / T);
  const most = u_K.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const total = most + Math.log(u_K.reduce((sum, u) => sum + Math.exp(u - most), 0));
  return u_K.map((u) => u - total);
}

function tailOf(logp_K: ArrayLike<number>): number {
  let rest = 1;
  for (let j = 0; j < logp_K.length; j++) rest -= Math.exp(logp_K[j]!);
  return Math.max(leastTail, rest);
}

/** One summand of D, and its slope ∂/∂ln p. */
type Term = (p: number, q: number, logp: number, logq: number) => { value: number; slope: number };

function terms(kind: Exclude<DivergenceKind, { readonly softened: number }>): Term {
  if (kind === "forward")
    return (_p, q, logp, logq) => ({ value: q === 0 ? 0 : q * (logq - logp), slope: -q });
  if (kind === "reverse") {
    return (p, _q, logp, logq) => {
      const ratio = p === 0 ? 0 : logp - logq;
      return { value: p * ratio, slope: p * (ratio + 1) };
    };
  }
  const alpha = kind.jensenShannon;
  return (p, q, logp, logq) => {
    const m = Math.log((1 - alpha) * p + alpha * q);
    const [left, right] = [p === 0 ? 0 : p * (logp - m), q === 0 ? 0 : q * (logq - m)];
    // the parts that come from m's own slope cancel: (1 − α) p − (1 − α) ((1 − α) p + α q) p / m = 0
    return { value: (1 - alpha) * left + alpha * right, slope: (1 - alpha) * left };
  };
}
