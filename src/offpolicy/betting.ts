/** Bounds of a mean by betting against it: no distribution is assumed. */
import { WhetstoneError } from "../core/errors.ts";

/** Never more than this share of what could be lost is put at stake. */
export const stake = 0.5;

/** Chooses how much to bet on the next observation, from those before it alone. */
export interface Bettor {
  /** λ for the next observation, before it is known. */
  bet(): number;
  see(x: number): void;
}

/**
 * λ_t = √(2 ln(1/α) / (σ̂²_{t−1} · horizon(t))), with σ̂² the variance about the running mean and one made-up observation of
 * mean ½ and variance ¼ to begin with ("Estimating means of bounded random variables by betting"). Any bets are valid that
 * are made without foresight; these ones are at their best where the horizon is the number of observations that it takes.
 * @param alpha the error at which the capital is to be read.
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
 * Lower bound of the mean of observations ≥ 0, however large they may be, at error α: the greatest m for which nobody who
 * bet on more than m, at fair odds and without foresight, has multiplied his money by 1 / α: Π_t (1 + min(λ_t, ½ / m) (x_t −
 * m)) < 1 / α. Such capital grows at most α of the time if the mean is m or less (Ville's inequality). Valid for any number
 * of observations, independent or each with this mean given those before ("Estimating means of bounded random variables by
 * betting"). The order must not have been chosen by looking at the values.
 * @param horizon how many there will be, if that is known: a tighter bound. Absent: valid at every moment, however often
 * one looks.
 */
export function lowerBound(xs: ArrayLike<number>, alpha: number, horizon?: number): number {
  // where the number is not known, bets shrink so that they pay at any time: the predictable plug-in
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
        mend: "Subtract the least value that is possible first.",
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
  // the capital falls as m rises; at the largest observation nothing was won
  let [low, high] = [0, most];
  for (let i = 0; i < 60 && high - low > 1e-9 * most; i++) {
    const m = (low + high) / 2;
    if (capital(m) >= enough) low = m;
    else high = m;
  }
  return low;
}
