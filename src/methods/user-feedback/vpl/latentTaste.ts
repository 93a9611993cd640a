/**
 * A reward that depends on the user: a latent taste z is inferred from a few of the user's comparisons, and the reward of
 * an item is linear in its traits, with weights that depend on z. Pure functions over one flat vector of parameters.
 * Paper: "Personalizing Reinforcement Learning from Human Feedback with Variational Preference Learning".
 */
import { logSigmoid, sigmoid } from "../../../common/statistics/logistic.ts";

/** Sizes: D traits of an item, H units of the encoder, Z dimensions of the taste. */
export interface TasteSizes {
  readonly traits: number;
  readonly units: number;
  readonly latent: number;
}

/** Traits of a preferred item and of the other one, [D] each. */
export type Vote = readonly [better: readonly number[], worse: readonly number[]];

/** q(z | votes) = N(mean, diag(exp(logVariance))), each [Z]. */
export interface Posterior {
  readonly mean: Float64Array;
  readonly logVariance: Float64Array;
}

/** Offset of each part in the flat vector; matrices are row-major. */
export function layoutOf({ traits: D, units: H, latent: Z }: TasteSizes) {
  /** W [H, D]: from differences to units. */
  const encoder = 0;
  /** M [Z, H] and V [Z, H], with a bias [Z]: from pooled units to mean and ln variance. */
  const mean = encoder + H * D;
  const logVariance = mean + Z * H;
  const bias = logVariance + Z * H;
  /** w₀ [D]: weights shared by all users; U [D, Z]: the taste's effect on them. */
  const shared = bias + Z;
  const moved = shared + D;
  return { encoder, mean, logVariance, bias, shared, moved, length: moved + D * Z };
}

/** Pooled units h [H] and each vote's own, [N, H]. */
function encoded(theta: Float64Array, sizes: TasteSizes, votes: readonly Vote[]) {
  const { traits: D, units: H } = sizes;
  const { encoder } = layoutOf(sizes);
  const pooled = new Float64Array(H);
  const own = votes.map(([better, worse]) =>
    Float64Array.from({ length: H }, (_, h) => {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += theta[encoder + h * D + d]! * (better[d]! - worse[d]!);
      return Math.tanh(sum);
    }),
  );
  for (const units of own) for (let h = 0; h < H; h++) pooled[h]! += units[h]! / votes.length;
  return { pooled, own };
}

/**
 *     h = mean_i tanh(W (better_i − worse_i)),   mean = M h,   ln variance = V h + b
 *
 * Invariant to the order of the votes. Without votes or training, the mean is 0 and the ln variance b for every user.
 */
export function posteriorOf(theta: Float64Array, sizes: TasteSizes, votes: readonly Vote[]): Posterior {
  return heads(theta, sizes, encoded(theta, sizes, votes).pooled);
}

function heads(theta: Float64Array, sizes: TasteSizes, pooled: Float64Array): Posterior {
  const { units: H, latent: Z } = sizes;
  const at = layoutOf(sizes);
  const row = (from: number, z: number): number => {
    let sum = 0;
    for (let h = 0; h < H; h++) sum += theta[from + z * H + h]! * pooled[h]!;
    return sum;
  };
  return {
    mean: Float64Array.from({ length: Z }, (_, z) => row(at.mean, z)),
    logVariance: Float64Array.from({ length: Z }, (_, z) => row(at.logVariance, z) + theta[at.bias + z]!),
  };
}

/** z = mean + exp(½ ln variance) · noise; noise normal, [Z]. */
export const sampledTaste = ({ mean, logVariance }: Posterior, noise: ArrayLike<number>): Float64Array =>
  mean.map((m, z) => m + Math.exp(logVariance[z]! / 2) * noise[z]!);

/** r(s, z) = s · (w₀ + U z). */
export function rewardOf(
  theta: Float64Array,
  sizes: TasteSizes,
  thing: readonly number[],
  taste: ArrayLike<number>,
): number {
  const { traits: D, latent: Z } = sizes;
  const { shared, moved } = layoutOf(sizes);
  let sum = 0;
  for (let d = 0; d < D; d++) {
    let weight = theta[shared + d]!;
    for (let z = 0; z < Z; z++) weight += theta[moved + d * Z + z]! * taste[z]!;
    sum += weight * thing[d]!;
  }
  return sum;
}

/** One user's part of a loss: votes from which the taste is inferred, other votes to predict, and a draw for z. */
export interface TasteExample {
  readonly context: readonly Vote[];
  readonly targets: readonly Vote[];
  /** Normal, [Z]. */
  readonly noise: ArrayLike<number>;
}

/**
 * The negative evidence bound, mean over users, and its gradient, added to `gradient` [parameters]:
 *
 *     L = mean over targets of −ln σ(r(better, z) − r(worse, z)) + β KL(q(z | context) ‖ N(0, 1))
 *     KL = −½ Σ (1 + ln variance − mean² − variance)
 */
export function tasteLoss(
  theta: Float64Array,
  sizes: TasteSizes,
  users: readonly TasteExample[],
  beta: number,
  gradient: Float64Array,
): number {
  let loss = 0;
  for (const user of users) loss += userLoss(theta, sizes, user, beta, gradient, 1 / users.length);
  return loss;
}

function userLoss(
  theta: Float64Array,
  sizes: TasteSizes,
  { context, targets, noise }: TasteExample,
  beta: number,
  gradient: Float64Array,
  share: number,
): number {
  const { traits: D, units: H, latent: Z } = sizes;
  const at = layoutOf(sizes);
  const { pooled, own } = encoded(theta, sizes, context);
  const q = heads(theta, sizes, pooled);
  const taste = sampledTaste(q, noise);
  const byTaste = new Float64Array(Z);
  let loss = 0;
  for (const [better, worse] of targets) {
    const margin = rewardOf(theta, sizes, better, taste) - rewardOf(theta, sizes, worse, taste);
    loss -= (share / targets.length) * logSigmoid(margin);
    const slope = (-share / targets.length) * sigmoid(-margin);
    for (let d = 0; d < D; d++) {
      const push = slope * (better[d]! - worse[d]!);
      gradient[at.shared + d]! += push;
      for (let z = 0; z < Z; z++) {
        gradient[at.moved + d * Z + z]! += push * taste[z]!;
        byTaste[z]! += push * theta[at.moved + d * Z + z]!;
      }
    }
  }
  const byPooled = new Float64Array(H);
  for (let z = 0; z < Z; z++) {
    const [mean, logVariance] = [q.mean[z]!, q.logVariance[z]!];
    const variance = Math.exp(logVariance);
    loss -= (share * beta * (1 + logVariance - mean ** 2 - variance)) / 2;
    const byMean = byTaste[z]! + share * beta * mean;
    const byLog = (byTaste[z]! * Math.sqrt(variance) * noise[z]!) / 2 + (share * beta * (variance - 1)) / 2;
    gradient[at.bias + z]! += byLog;
    for (let h = 0; h < H; h++) {
      gradient[at.mean + z * H + h]! += byMean * pooled[h]!;
      gradient[at.logVariance + z * H + h]! += byLog * pooled[h]!;
      byPooled[h]! += byMean * theta[at.mean + z * H + h]! + byLog * theta[at.logVariance + z * H + h]!;
    }
  }
  context.forEach(([better, worse], i) => {
    for (let h = 0; h < H; h++) {
      const push = (byPooled[h]! / context.length) * (1 - own[i]![h]! ** 2);
      for (let d = 0; d < D; d++) gradient[at.encoder + h * D + d]! += push * (better[d]! - worse[d]!);
    }
  });
  return loss;
}

/**
 * Expected information about a user's taste from the answer to a question, in nats:
 *
 *     I(y; z) = H(mean_z p(y | z)) − mean_z H(p(y | z)),    p = σ(r(first, z) − r(second, z))        z: samples of q
 */
export function questionWorth(
  theta: Float64Array,
  sizes: TasteSizes,
  [first, second]: readonly [readonly number[], readonly number[]],
  tastes: readonly ArrayLike<number>[],
): number {
  const chances = tastes.map((z) =>
    sigmoid(rewardOf(theta, sizes, first, z) - rewardOf(theta, sizes, second, z)),
  );
  const average = chances.reduce((sum, p) => sum + p / chances.length, 0);
  return entropy(average) - chances.reduce((sum, p) => sum + entropy(p) / chances.length, 0);
}

/** Entropy of a Bernoulli variable, nats. */
const entropy = (p: number): number => (p <= 0 || p >= 1 ? 0 : -p * Math.log(p) - (1 - p) * Math.log(1 - p));
