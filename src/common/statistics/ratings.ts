/** Ratings from games between pairs, and circles of who beats whom. */

/** A member's strength on Elo's scale: 400 points more are odds of 10 to 1. */
export interface Rating {
  readonly elo: number;
  readonly low: number;
  readonly high: number;
}

/** The mean of all ratings. */
const centre = 1500;
const scale = 400 / Math.LN10;
const normal95 = 1.959963984540054;

/**
 * The Bradley–Terry model, P(i beats j) = σ(θ_i − θ_j), fitted to wins by Newton's method, with intervals of 95 % for the difference of
 * each rating from the mean of all. Everybody also has one game, half won, against a member at the mean: a prior that keeps who never
 * lost in finite bounds. Where members beat each other in a circle no such θ fits: see {@link circlesIn}.
 * Paper: "Rank Analysis of Incomplete Block Designs" (Bradley and Terry, 1952).
 * @param won [i][j] games that i won against j; a draw is half a win for both.
 */
export function bradleyTerryRatings(won: readonly (readonly number[])[]): readonly Rating[] {
  const n = won.length;
  const theta = new Float64Array(n);
  let inverse: number[][] = [];
  for (let round = 0; round < 50; round++) {
    const gradient = new Float64Array(n);
    const curvature = Array.from({ length: n }, () => new Array<number>(n).fill(0));
    for (let i = 0; i < n; i++) {
      const alone = sigmoid(theta[i]!);
      gradient[i]! += 0.5 - alone;
      curvature[i]![i]! += alone * (1 - alone);
      for (let j = 0; j < n; j++) {
        const games = won[i]![j]! + won[j]![i]!;
        if (i === j || games === 0) continue;
        const p = sigmoid(theta[i]! - theta[j]!);
        gradient[i]! += won[i]![j]! - games * p;
        curvature[i]![i]! += games * p * (1 - p);
        curvature[i]![j]! -= games * p * (1 - p);
      }
    }
    inverse = inverseOf(curvature);
    const step = inverse.map((row) => row.reduce((sum, x, j) => sum + x * gradient[j]!, 0));
    // a full step from far away may overshoot
    const shorter = Math.min(1, 2 / Math.max(...step.map(Math.abs), 1e-12));
    step.forEach((x, i) => {
      theta[i]! += shorter * x;
    });
    if (Math.max(...step.map(Math.abs)) < 1e-10) break;
  }
  const mean = theta.reduce((a, b) => a + b, 0) / Math.max(1, n);
  return Array.from(theta, (own, i) => {
    const elo = centre + scale * (own - mean);
    const margin = normal95 * scale * Math.sqrt(varianceFromMean(inverse, i));
    return { elo, low: elo - margin, high: elo + margin };
  });
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Variance of θ_i − mean(θ). */
function varianceFromMean(covariance: readonly (readonly number[])[], i: number): number {
  const n = covariance.length;
  const weights = covariance.map((_, k) => (k === i ? 1 : 0) - 1 / n);
  return covariance.reduce(
    (sum, row, a) => sum + row.reduce((part, x, b) => part + weights[a]! * weights[b]! * x, 0),
    0,
  );
}

/** Of a symmetric positive definite matrix, by Gauss–Jordan elimination. */
function inverseOf(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let i = 0; i < n; i++) {
    const pivot = rows[i]![i]!;
    rows[i] = rows[i]!.map((x) => x / pivot);
    for (let k = 0; k < n; k++) {
      if (k === i) continue;
      const factor = rows[k]![i]!;
      rows[k] = rows[k]!.map((x, j) => x - factor * rows[i]![j]!);
    }
  }
  return rows.map((row) => row.slice(n));
}

/**
 * Circles of three, in each of which every one beats the next and the last beats the first; each once, beginning with its smallest
 * index. A relation between all pairs that has any circle has one of three.
 */
export function circlesIn(
  n: number,
  beats: (i: number, j: number) => boolean,
): readonly (readonly [number, number, number])[] {
  const out: [number, number, number][] = [];
  for (let i = 0; i < n; i++)
    for (let j = i + 1; j < n; j++)
      for (let k = i + 1; k < n; k++)
        if (j !== k && beats(i, j) && beats(j, k) && beats(k, i)) out.push([i, j, k]);
  return out;
}
