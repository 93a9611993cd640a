/** Options of a method's own: each has a default, a help text and a range, and can be set like a setting. */
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { OptionValue } from "../core/slots.ts";

/** A number, from `low` to `high` where these are given, both included. */
export interface NumberOption {
  /** What it does, for lists. A symbol of the equation and the unit, where it has them. */
  readonly help: string;
  readonly default: number;
  readonly low?: number;
  readonly high?: number;
  /** Only whole numbers. */
  readonly whole?: true;
}

/** One of some names. */
export interface ChoiceOption {
  readonly help: string;
  readonly default: string;
  readonly oneOf: readonly string[];
}

/** Yes or no. */
export interface FlagOption {
  readonly help: string;
  readonly default: boolean;
}

/** One option: a number, one of some names, or yes or no. */
export type Option = NumberOption | ChoiceOption | FlagOption;

/** Options by name, as a method declares them. */
export type Options = Readonly<Record<string, Option>>;

/** The values of options by name: a number, one of the option's names, or true or false. */
export type OptionValues<O extends Options> = {
  readonly [K in keyof O]: O[K] extends { readonly oneOf: readonly (infer Name extends string)[] }
    ? Name
    : O[K]["default"] extends number
      ? number
      : O[K]["default"] extends boolean
        ? boolean
        : OptionValue;
};

/** What a value of the option has to be, in words: "a number from 0 to 1". */
export function rangeOf(option: Option): string {
  if ("oneOf" in option) return `one of ${option.oneOf.join(", ")}`;
  if (typeof option.default === "boolean") return "true or false";
  const { low, high, whole } = option as NumberOption;
  return `a ${whole ? "whole " : ""}number${low === undefined ? "" : ` from ${low}`}${high === undefined ? "" : ` to ${high}`}`;
}

function fits(value: unknown, option: Option): boolean {
  if ("oneOf" in option) return typeof value === "string" && option.oneOf.includes(value);
  if (typeof option.default === "boolean") return typeof value === "boolean";
  const { low = Number.NEGATIVE_INFINITY, high = Number.POSITIVE_INFINITY, whole } = option as NumberOption;
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  return value >= low && value <= high && (!whole || Number.isInteger(value));
}

function unknownOption(where: string, name: string, known: readonly string[]): WhetstoneError {
  if (known.length > 0) return unknownName(where, name, known);
  return new WhetstoneError("name.unknown", {
    where,
    got: `"${name}"`,
    expected: "nothing: there are no such options",
    fix: "Leave it out.",
  });
}

/**
 * The values that hold: what is given, and the defaults.
 * @param where whose options they are, in errors, such as "method settings".
 * @throws WhetstoneError `name.unknown` for a name that does not exist, `option.range` for an impossible value.
 */
export function valuesOf<O extends Options>(
  where: string,
  options: O,
  given: Readonly<Record<string, unknown>>,
): OptionValues<O> {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(options, name)) throw unknownOption(where, name, Object.keys(options));
  const values: [string, unknown][] = Object.entries(options).map(([name, option]) => {
    const value = given[name] === undefined ? option.default : given[name];
    if (fits(value, option)) return [name, value];
    throw new WhetstoneError("option.range", {
      where: `${where}, ${name}`,
      got: String(value),
      expected: rangeOf(option),
      fix: `Set ${name} (${option.help}) within that range, or leave it out for ${String(option.default)}.`,
    });
  });
  return Object.fromEntries(values) as OptionValues<O>;
}
