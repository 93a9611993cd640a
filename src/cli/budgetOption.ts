/** `--budget` of a key: "5/day". */
import { type Budget, periods } from "../core/budget.ts";
import { WhetstoneError } from "../core/errors.ts";

/** Reads dollars and their period. @throws WhetstoneError `option.range`. */
export function budgetIn(text: string): Budget {
  const [, amount, per] = /^\$?(\d+(?:\.\d+)?)(?:\/(\w+))?$/.exec(text.trim()) ?? [];
  const period = periods.find((one) => one === (per ?? "ever"));
  if (amount !== undefined && Number(amount) > 0 && period !== undefined)
    return { usd: Number(amount), per: period };
  throw new WhetstoneError("option.range", {
    where: "--budget",
    got: `"${text}"`,
    expected: "dollars above 0, by day or month or in all",
    fix: "Write for example 5/day, 100/month or 20.",
  });
}
