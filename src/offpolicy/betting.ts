/** Confidence bounds of a mean by betting against it; no distribution is assumed. */
import { WhetstoneError } from "../core/errors.ts";

/** Largest fraction of the wealth to risk on one bet. */
export const stake = 0.5;

/** Chooses how much to bet on the next observation, from the earlier ones only. */
export interface Bettor {
  /** λ for the next observation, before it is known. */
  bet(): number;
  see(x: number): void;
}

/**
 * λ_t = √(2 ln(1/α) / (σ̂²_{t−1} · horizon(t))). σ̂² is the variance about the running mean, regularised by one prior
 * observation of mean ½ and variance ¼ ("Estimating means of bounded random variables by betting"). Any bets that do not
 * use future observations are valid; these are best if the horizon is the number of observations needed.
 * @param alpha the error level at which the wealth is evaluated.
 */
export function bettor(alpha: number, horizon: (t: number) => number): Bettor {
  let n = 0;
  let sum = 0.5;
  let squares = 0.25;
  return {
    bet: () => {
      const t = n + 1;
      return Math.sqrt((2 * Math.log(1 / alpha)) / ((squares / t) * horizon(t)));
    },
    see: (x) => {
      n++;
      sum += x;
      squares += (x - sum / (n + 1)) ** 2;
    },
  };
}

/**
 * Lower bound of the mean of observations ≥ 0, unbounded above, at error α: the greatest m against which a bettor who
 * bets that the mean exceeds m, at fair odds and without foresight, has wealth Π_t (1 + min(λ_t, ½ / m) (x_t − m)) < 1 / α.
 * Such wealth reaches 1 / α with probability at most α if the mean is m or less (Ville's inequality). Valid for any
 * number of observations, independent or each with this mean given the earlier ones ("Estimating means of bounded random
 * variables by betting"). The order must not depend on the values.
 * @param horizon number of observations, if it is fixed in advance: a tighter bound. Absent: valid at every moment,
 * however often it is computed.
 */
export function lowerBound(xs: ArrayLike<number>, alpha: number, horizon?: number): number {
  // with an unknown number, bets shrink so that they pay at any time: the predictable plug-in
  const player = bettor(alpha, (t) => horizon ?? t * Math.log(1 + t));
  const bets = new Float64Array(xs.length);
  let most = 0;
  for (let i = 0; i < xs.length; i++) {
    const x = xs[i]!;
    if (!(x >= 0)) {
      throw new WhetstoneError("option.range", {
        where: "lowerBound",
        got: `${x}`,
        expected: "observations of 0 or more",
        fix: "Subtract the lowest possible value first.",
      });
    }
    bets[i] = player.bet();
    player.see(x);
    most = Math.max(most, x);
  }
  const enough = Math.log(1 / alpha);
  const capital = (m: number): number => {
    let log = 0;
    for (let i = 0; i < xs.length; i++) log += Math.log1p(Math.min(bets[i]!, stake / m) * (xs[i]! - m));
    return log;
  };
  // wealth falls as m rises; at the largest observation nothing was won
  let [low, high] = [0, most];
  for (let i = 0; i < 60 && high - low > 1e-9 * most; i++) {
    const m = (low + high) / 2;
    if (capital(m) >= enough) low = m;
    else high = m;
  }
  return low;
}
