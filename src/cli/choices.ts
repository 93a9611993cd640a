/** Values that people set and tune: settings of every method, and options of a method's own, by name. */
import type { Command } from "commander";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Method, OptionValue } from "../core/slots.ts";
import type { Recipe } from "../method/method.ts";
import type { Option } from "../method/options.ts";
import { type Settings, settingRows } from "../method/settings.ts";

/** Settings and options by name. What was typed is text until it is known which option it is for. */
export type Choice = Readonly<Record<string, OptionValue>>;

const isSetting = (name: string): boolean => Object.hasOwn(settingRows, name);

/** The setting or option of a method with that name; undefined where it has none. */
const optionOf = (recipe: Recipe, name: string): Option | undefined =>
  isSetting(name) ? settingRows[name as keyof Settings] : recipe.options[name];

/** Reads "name=text". */
export function assignment(flag: string, text: string): readonly [name: string, text: string] {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: "a name, an equals sign and a value",
    fix: `Write for example ${flag} temperature=0.8; whetstone explain ID lists a method's options.`,
  });
}

/** The text as a value of the option. What is no such value stays text, which building refuses. */
function read(value: OptionValue, option: Option | undefined): OptionValue {
  if (typeof value !== "string" || option === undefined || typeof option.default === "string") return value;
  if (typeof option.default === "boolean") return value === "true" ? true : value === "false" ? false : value;
  const number = Number(value);
  return value !== "" && Number.isFinite(number) ? number : value;
}

/** Of a choice, what a method has settings or options for, as values. */
export const choiceFor = (recipe: Recipe, choice: Choice): Choice =>
  Object.fromEntries(
    Object.entries(choice).flatMap(([name, value]) => {
      const option = optionOf(recipe, name);
      return option ? [[name, read(value, option)] as const] : [];
    }),
  );

/** @throws WhetstoneError `name.unknown` where none of the methods has a setting or an option of a name. */
export function requireKnown(flag: string, names: readonly string[], recipes: readonly Recipe[]): void {
  const unknown = names.find((name) => recipes.every((recipe) => optionOf(recipe, name) === undefined));
  if (unknown === undefined) return;
  const own = recipes.flatMap(({ options }) => Object.keys(options));
  throw unknownName(flag, unknown, [...new Set([...own, ...Object.keys(settingRows)])]);
}

/** Builds a method with settings and a choice, of which the settings win over the former. */
export function buildWith(recipe: Recipe, settings: Partial<Settings>, choice: Choice): Method {
  const values = Object.entries(choiceFor(recipe, choice));
  return recipe.build(
    { ...settings, ...Object.fromEntries(values.filter(([name]) => isSetting(name))) },
    Object.fromEntries(values.filter(([name]) => !isSetting(name))),
  );
}

/** Values to choose from, by name. */
export type Lists = Readonly<Record<string, readonly OptionValue[]>>;

/** Reads lists as typed, "0.1,0.2". */
export const listsOf = (typed: Choice): Lists =>
  Object.fromEntries(
    Object.entries(typed).map(([name, list]) => [
      name,
      String(list)
        .split(",")
        .map((text) => text.trim()),
    ]),
  );

/** Of the lists, those that a method has a setting or an option for. What touches no weights makes no steps. */
export function listsFor(recipe: Recipe, lists: Lists): Lists {
  const own = Object.entries(lists).flatMap(([name, values]) => {
    const option = name === "learningRate" && recipe.weightFree ? undefined : optionOf(recipe, name);
    return option ? [[name, values.map((value) => read(value, option))] as const] : [];
  });
  return Object.fromEntries(own);
}

/** Every combination of the values, those of the first name slowest; none without a list. */
export function gridOf(lists: Lists): readonly Choice[] {
  const names = Object.entries(lists);
  if (names.length === 0) return [];
  return names.reduce<readonly Choice[]>(
    (grid, [name, values]) => grid.flatMap((choice) => values.map((value) => ({ ...choice, [name]: value }))),
    [{}],
  );
}

/** A choice as part of a name of a run: the step size alone, anything else with its name. */
export const tagOf = (choice: Choice): string =>
  Object.entries(choice)
    .map(([name, value]) => (name === "learningRate" ? `-${value}` : `-${name}=${value}`))
    .join("");

/** A choice for lines of progress. */
export const choiceWords = (choice: Choice): string =>
  Object.entries(choice)
    .map(([name, value]) => (name === "learningRate" ? `${value}` : `${name} ${value}`))
    .join(", ");

/** Adds an option with a name and a value, which may be repeated. */
export const addNamed = (command: Command, flag: string, help: string): Command =>
  command.option(
    flag,
    `${help}; may be repeated`,
    (text: string, before: Choice = {}): Choice => ({
      ...before,
      ...Object.fromEntries([assignment(flag.split(" ")[0]!, text)]),
    }),
  );
