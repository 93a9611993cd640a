/** Shares of versions: probabilities by name. */
import { WhetstoneError } from "../core/errors.ts";

/** Rounding that a sum of shares is forgiven. */
const rounding = 1e-9;

/**
 * The shares as they are, once they are known to be probabilities: at least one, each above 0 (a version that is not to
 * answer is left out), together 1.
 * @throws WhetstoneError `option.range` naming the share that is wrong, or the sum.
 */
export function checkShares<Name extends string>(
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
    mend: "Leave out versions that are not to answer, and give the rest to the version that answers now.",
  });
}
