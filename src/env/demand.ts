import { WhetstoneError } from "../core/errors.ts";

/**
 * Checks a setting of an environment at the door.
 * @param where environment and setting, e.g. "textMaze: side". @param expected what fits, in words.
 * @throws WhetstoneError `option.range` unless it fits.
 */
export function demand(fits: boolean, where: string, got: unknown, expected: string): void {
  if (fits) return;
  throw new WhetstoneError("option.range", {
    where,
    got: JSON.stringify(got) ?? String(got),
    expected,
    mend: "Correct it, or leave it out.",
  });
}

/** Whether something is a whole number from `low` to `high`. */
export const isWhole = (value: number, low: number, high: number): boolean =>
  Number.isInteger(value) && value >= low && value <= high;
