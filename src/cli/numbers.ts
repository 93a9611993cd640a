/** Numbers in the texts of options. */
import { numberIn } from "../common/text/numberIn.ts";
import { WhetstoneError } from "../core/errors.ts";

/** What an option's number may be. */
export interface NumberRule {
  readonly isValid: (value: number) => boolean;
  /** In words, as an error says it: "a number above 0". */
  readonly expected: string;
  /** Default "Correct the number." */
  readonly fix?: string;
}

/** The number that an option's text writes. @throws WhetstoneError `option.range` for another text or number. */
export function numberOption(flag: string, text: string, rule: NumberRule): number {
  const value = numberIn(text);
  if (rule.isValid(value)) return value;
  const { expected, fix = "Correct the number." } = rule;
  throw new WhetstoneError("option.range", { where: flag, got: `"${text}"`, expected, fix });
}

export const numberBetween = (flag: string, text: string, low: number, high: number): number =>
  numberOption(flag, text, {
    isValid: (value) => value >= low && value <= high,
    expected: `a number from ${low} to ${high}`,
  });

/** A whole number from an option's text. */
export function statedNumber(flag: string, text: string, low = 0, high = Number.MAX_SAFE_INTEGER): number {
  return numberOption(flag, text, {
    isValid: (value) => Number.isSafeInteger(value) && value >= low && value <= high,
    expected:
      high === Number.MAX_SAFE_INTEGER
        ? `a whole number of ${low} or more`
        : `a whole number from ${low} to ${high}`,
  });
}
