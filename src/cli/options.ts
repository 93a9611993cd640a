/** A run as stated: options of the command line, and config files, each checked by the rows of runRows.ts. */
import type { Command } from "commander";
import { z } from "zod";
import { nearest } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { OptionValue } from "../core/slots.ts";
import { defineEnvironment } from "../env/environment.ts";
import { type Settings, settingRows } from "../method/settings.ts";
import { addNamed, type Choice } from "./choices.ts";
import { seconds } from "./durations.ts";
import { flagOf } from "./flagOf.ts";
import { numberOption } from "./numbers.ts";
import {
  evaluation,
  evaluationRows,
  type RunConfig,
  runRows,
  text as textRule,
  warmStart,
} from "./runRows.ts";

/** A run as a config file states it, all of it optional: `export default { … } satisfies TrainConfig`. The command line wins. */
export interface StatedRun extends Partial<RunConfig> {
  /** Of every method: step size, attempts at a task, clip range. Default: the method's. */
  readonly settings?: Partial<Settings>;
  /** Options of the method's own. */
  readonly options?: Choice;
}

/** Options that together are `evaluation`, as commander names them: `evalTasks` is its `tasks`. */
const evaluationOptions = new Map(
  Object.entries(evaluationRows).map(([name, row]) => [
    `eval${name[0]!.toUpperCase()}${name.slice(1)}`,
    { name, ...row },
  ]),
);

/** Adds an option per row, and one per setting of evaluations and methods. */
export function addRunOptions(command: Command): Command {
  for (const { flag, help } of [...Object.values(runRows), ...Object.values(evaluationRows)])
    if (flag) command.option(flag, help);
  for (const [name, row] of Object.entries(settingRows)) {
    const value = "oneOf" in row && row.oneOf ? row.oneOf.join("|") : "n";
    command.option(`${flagOf(name)} <${value}>`, `${row.help} (default: the method's)`);
  }
  return addSet(command);
}

/** Adds `--set`. */
export const addSet = (command: Command): Command =>
  addNamed(
    command,
    "--set <name=value>",
    "an option of the method's own, or a setting; see whetstone explain ID",
  );

/** The options as written on the command line, with numbers read and each value checked. */
export function statedRun(options: Readonly<Record<string, unknown>>): StatedRun {
  const run: Record<string, unknown> = {};
  const evaluated: Record<string, unknown> = {};
  const { settings, own } = apartFrom((options.set ?? {}) as Choice);
  for (const [name, text] of Object.entries(options)) {
    if (text === undefined) continue;
    const flag = `${flagOf(name)}`;
    if (name in settingRows) {
      const row = settingRows[name as keyof Settings];
      settings[name] = typeof row.default === "number" ? numberFrom(flag, text) : text;
    } else if (name in runRows) {
      run[name] = checkedValue(flag, text, runRows[name as keyof RunConfig].schema);
    } else {
      const row = evaluationOptions.get(name);
      if (row) evaluated[row.name] = checkedValue(flag, text, row.schema);
    }
  }
  if (typeof run.budget === "string") seconds("--budget", run.budget);
  return {
    ...run,
    ...(Object.keys(evaluated).length > 0 && { evaluation: evaluated }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(Object.keys(own).length > 0 && { options: own }),
  };
}

/** @throws WhetstoneError `option.range` for a text that the schema refuses. */
function checkedValue(flag: string, text: unknown, schema: z.ZodType): unknown {
  const checked = schema.safeParse(numeric(schema) ? numberFrom(flag, text) : text);
  if (checked.success) return checked.data;
  throw badValue(flag, text, checked.error);
}

/** What `--set` names: settings of every method, and options of a method's own. */
function apartFrom(set: Choice): { readonly settings: Record<string, unknown>; readonly own: Choice } {
  const [settings, own]: [Record<string, unknown>, Record<string, OptionValue>] = [{}, {}];
  for (const [name, text] of Object.entries(set)) {
    if (!(name in settingRows)) own[name] = text;
    else {
      const number = typeof settingRows[name as keyof Settings].default === "number";
      settings[name] = number ? numberFrom(`--set ${name}`, text) : text;
    }
  }
  return { settings, own };
}

/** Whether the row takes a number: an option's text has to become one first. */
const numeric = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodNumber ||
  (schema instanceof z.ZodUnion && schema.options.some((o) => o instanceof z.ZodNumber));

const numberFrom = (flag: string, text: unknown): number =>
  numberOption(flag, String(text), {
    isValid: Number.isFinite,
    expected: "a number",
    fix: "Write digits, such as 100 or 3e-4.",
  });

function badValue(flag: string, text: unknown, error: z.ZodError): WhetstoneError {
  const issue = error.issues[0]!;
  const choices = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const near = choices.length > 0 ? nearest(String(text), choices) : undefined;
  return new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: choices.length > 0 ? `one of ${choices.join(", ")}` : issue.message,
    fix: near ? `Did you mean ${near}?` : "See whetstone train --help.",
  });
}

/** @param value what a config module exports by default. @param where the file's name. */
export function checkConfig(value: unknown, where: string): StatedRun {
  const settings = z.strictObject(
    Object.fromEntries(
      Object.entries(settingRows).map(([name, row]) => [
        name,
        (typeof row.default === "number" ? z.number("a number") : textRule).optional(),
      ]),
    ),
  );
  const shape = {
    ...Object.fromEntries(Object.entries(runRows).map(([name, row]) => [name, row.schema.optional()])),
    settings: settings.optional(),
    options: z
      .record(z.string(), z.union([z.number("a number"), z.string("a name"), z.boolean("true or false")]))
      .optional(),
  };
  const checked = z.strictObject(shape, "an object that configures a run").safeParse(value);
  if (!checked.success) throw badConfig(where, value, deepest(checked.error.issues[0]!));
  const config = checked.data as StatedRun;
  if (config.budget !== undefined) seconds(`${where}: budget`, config.budget);
  if (typeof config.env === "object") defineEnvironment(config.env);
  return config;
}

type Issue = z.core.$ZodIssue;

/** Of the choices of a union, the one that the value came nearest to says what is wrong. */
function deepest(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const inner = issue.errors.flat().map(deepest);
  const nearer = inner.find((i) => i.path.length > 0 || i.code === "unrecognized_keys");
  const chosen = nearer ?? { ...inner[0]!, message: inner.map((i) => i.message).join(" or ") };
  return { ...chosen, path: [...issue.path, ...chosen.path] };
}

/** What stands at this place, as people write it. */
function givenAt(value: unknown, path: readonly PropertyKey[]): string {
  const at = path.reduce<unknown>(
    (v, key) => (typeof v === "object" && v !== null ? (v as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
  if (typeof at === "object" && at !== null) return Array.isArray(at) ? "a list" : "an object";
  if (typeof at === "function") return "a function";
  return typeof at === "string" ? `"${at}"` : String(at);
}

const knownAt: Readonly<Record<string, readonly string[]>> = {
  settings: Object.keys(settingRows),
  warmStart: warmStart.names,
  evaluation: evaluation.names,
};

function badConfig(where: string, value: unknown, issue: Issue): WhetstoneError {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const known = knownAt[path] ?? [...Object.keys(runRows), "settings", "options"];
    const key = issue.keys[0]!;
    const near = nearest(key, known);
    return new WhetstoneError("config.invalid", {
      where,
      got: `the unknown key "${path === "" ? key : `${path}.${key}`}"`,
      expected: `one of ${known.join(", ")}`,
      fix: near ? `Did you mean ${near}?` : "Remove the key, or write one of those.",
    });
  }
  return new WhetstoneError("config.invalid", {
    where: path === "" ? where : `${where}: ${path}`,
    got: givenAt(value, issue.path),
    expected: issue.message,
    fix: "Correct the value.",
  });
}

/** Of TCP. */
export const highestPort = 65_535;
