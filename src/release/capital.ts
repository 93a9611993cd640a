/** Wealth of bets against candidate means: one arm of a live comparison, for numbers in [0, 1]. */
import { WhetstoneError } from "../core/errors.ts";
import { bettor, stake } from "../offpolicy/betting.ts";

/** Bets against all candidate means j / cells, j = 0 … cells, at once. */
export interface Capital {
  readonly n: number;
  readonly mean: number;
  see(x: number): void;
  /** ln of the wealth of the bet that the mean is above j / cells; falls in j. */
  above(j: number): number;
  /** ln of the wealth of the bet that the mean is below j / cells; rises in j. */
  below(j: number): number;
}

/** Number of factors, 0.5 to `cells`, that are multiplied before taking the logarithm: within the range of a double. */
const atOnce = 16;

/**
 * Π_t (1 + min(λ_t, ½ / m) (x_t − m)) for each m from below, and mirrored from above. The games are fair if the mean is m
 * and lose on average if it is on the other side, so that either wealth ever reaches 1/α with probability at most α
 * ("Estimating means of bounded random variables by betting").
 * @param alpha error that the bets are optimised for. @param cells resolution, at most 1,000.
 * @param horizon number of observations that the next bet is optimised for, from the earlier ones.
 */
export function capital(alpha: number, cells: number, horizon: () => number): Capital {
  const [up, down] = [wagers(cells), wagers(cells)];
  const player = bettor(alpha, horizon);
  let [n, sum] = [0, 0];
  return {
    get n() {
      return n;
    },
    get mean() {
      return sum / n;
    },
    see: (x) => {
      if (!(x >= 0 && x <= 1)) throw outside(x);
      const bet = player.bet();
      player.see(x);
      up.see(x, bet);
      down.see(1 - x, bet);
      n++;
      sum += x;
    },
    above: up.money,
    below: (j) => down.money(cells - j),
  };
}

function wagers(cells: number) {
  const product = new Float64Array(cells + 1).fill(1);
  const log = new Float64Array(cells + 1);
  let since = 0;
  const settle = (): void => {
    for (let j = 0; j <= cells; j++) {
      log[j]! += Math.log(product[j]!);
      product[j] = 1;
    }
    since = 0;
  };
  return {
    see(x: number, bet: number): void {
      for (let j = 0; j <= cells; j++) {
        const m = j / cells;
        product[j]! *= 1 + Math.min(bet, stake / m) * (x - m);
      }
      if (++since === atOnce) settle();
    },
    money: (j: number): number => log[j]! + Math.log(product[j]!),
  };
}

const outside = (x: number): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "capital",
    got: `${x}`,
    expected: "a number from 0 to 1",
    fix: "Set the range of the numbers; they are scaled by it.",
  });
