import { WhetstoneError } from "../core/errors.ts";

/**
 * Validates a setting of an environment.
 * @param where environment and setting, e.g. "textMaze: side". @param expected the valid values, in words.
 * @throws WhetstoneError `option.range` unless it fits.
 */
export function demand(fits: boolean, where: string, got: unknown, expected: string): void {
  if (fits) return;
  throw new WhetstoneError("option.range", {
    where,
    got: JSON.stringify(got) ?? String(got),
    expected,
    fix: "Correct the setting, or leave it out.",
  });
}

/** Whether a value is a whole number from `low` to `high`. */
export const isWhole = (value: number, low: number, high: number): boolean =>
  Number.isInteger(value) && value >= low && value <= high;
