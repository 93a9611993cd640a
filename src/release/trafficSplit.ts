/** Traffic shares: a probability for each version. */
import { WhetstoneError } from "../core/errors.ts";

/** Tolerance for the sum of shares. */
const rounding = 1e-9;

/**
 * Returns the shares after checking that they are probabilities: at least one, each above 0 (leave out a version that
 * gets no traffic), with sum 1.
 * @throws WhetstoneError `option.range` naming the invalid share, or the sum.
 */
export function requireTrafficSplit<Name extends string>(
  where: string,
  shares: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const entries = Object.entries<number>(shares);
  const wrong = entries.find(([, share]) => !(share > 0 && share <= 1));
  const sum = entries.reduce((so, [, share]) => so + share, 0);
  if (entries.length > 0 && wrong === undefined && Math.abs(sum - 1) <= rounding) return shares;
  throw new WhetstoneError("option.range", {
    where,
    got:
      entries.length === 0
        ? "no shares"
        : wrong !== undefined
          ? `a share of ${wrong[1]} for ${wrong[0]}`
          : `shares that add up to ${sum}`,
    expected: "one or more versions, each with a share above 0, adding up to 1",
    fix: "Leave out versions without traffic, and add their shares to the version that answers now.",
  });
}
