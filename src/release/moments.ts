/** Running means and variances, and the width of a confidence sequence. */

export interface Moments {
  readonly n: number;
  readonly mean: number;
  /** Divisor n − 1; NaN below two. */
  readonly variance: number;
  /** Third central moment. */
  readonly third: number;
  see(x: number): void;
}

/** Welford's recursion, with third moments. */
export function moments(): Moments {
  let [n, mean, squares, cubes] = [0, 0, 0, 0];
  return {
    get n() {
      return n;
    },
    get mean() {
      return n > 0 ? mean : Number.NaN;
    },
    get variance() {
      return n > 1 ? squares / (n - 1) : Number.NaN;
    },
    get third() {
      return n > 0 ? cubes / n : Number.NaN;
    },
    see: (x) => {
      n++;
      const off = x - mean;
      const step = off / n;
      const grown = off * step * (n - 1);
      mean += step;
      cubes += grown * step * (n - 2) - 3 * step * squares;
      squares += grown;
    },
  };
}

/** Number of units at which the confidence sequence is tightest. */
const planned = 100;

/**
 * Half width of a confidence sequence, in standard errors, after t units: √(2 (1 + 1 / (t ρ²)) ln(√(t ρ² + 1) / α)), the
 * boundary of a normal mixture. ρ is chosen to be tightest at 100 units: ρ² = (−2 ln α + ln(1 − 2 ln α)) / 100.
 * @param alpha two-sided error over all looks together.
 */
export function asymptoticHalfWidth(t: number, alpha: number): number {
  const rho = (-2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha))) / planned;
  return Math.sqrt(2 * (1 + 1 / (t * rho)) * Math.log(Math.sqrt(t * rho + 1) / alpha));
}
