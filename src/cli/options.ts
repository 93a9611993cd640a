/** What a run can be told: one table, from which come options, help and the check of config files. */
import type { Command } from "commander";
import { z } from "zod";
import { WhetstoneError } from "../core/errors.ts";
import { nearest } from "../core/suggest.ts";
import type { Environment } from "../env/environment.ts";
import type { Recipe } from "../method/index.ts";
import { type Settings, settingRows } from "../method/settings.ts";
import type { EvaluationSettings, WarmStartSettings } from "../train/settings.ts";
import { type EngineName, engineNames } from "./catalogue.ts";
import { seconds } from "./durations.ts";

/** A run as a config file or the command line states it. The command line wins. */
export interface RunConfig {
  readonly env: string | Environment;
  readonly method: string | Recipe;
  readonly engine: EngineName;
  readonly seed: number;
  readonly iterations: number;
  readonly budget: string;
  readonly out: string;
  readonly store: string;
  readonly resume: boolean;
  readonly concurrency: number;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  readonly checkpointSeconds: number;
  /** Imitate the environment's flawed player first. */
  readonly warmStart: boolean | Partial<WarmStartSettings>;
  readonly evaluation: Partial<EvaluationSettings>;
}

interface Row<T> {
  /** Absent: config files only. */
  readonly flag?: string;
  readonly help: string;
  readonly schema: z.ZodType<T>;
}

const isObject = (what: string, key: string) =>
  z.custom<never>((v) => typeof v === "object" && v !== null && key in v, `expected ${what}`);
const whole = (low: number) => z.number().int().min(low);

/** An object of numbers under some of these names. */
function partial<K extends string>(names: readonly K[]): z.ZodType<{ readonly [P in K]?: number }> {
  const shape = Object.fromEntries(names.map((name) => [name, z.number().optional()]));
  return z.strictObject(shape) as unknown as z.ZodType<{ readonly [P in K]?: number }>;
}

/** A missing or surplus row is a compile error. */
export const runRows: { readonly [K in keyof RunConfig]-?: Row<RunConfig[K]> } = {
  env: {
    flag: "--env <name>",
    help: "environment to learn in (see whetstone envs)",
    schema: z.union([z.string().min(1), isObject("an environment", "tasks")]),
  },
  method: {
    flag: "--method <id>",
    help: "how to learn (see whetstone methods)",
    schema: z.union([z.string().min(1), isObject("a method", "build")]),
  },
  engine: {
    flag: "--engine <name>",
    help: "what computes: local (transformers) or tabular (exact tables)",
    schema: z.enum(engineNames),
  },
  seed: { flag: "--seed <n>", help: "seed of every random stream", schema: z.number().int() },
  iterations: { flag: "--iterations <n>", help: "updates of the policy", schema: whole(0) },
  budget: {
    flag: "--budget <time>",
    help: "end by itself after this time: 90s, 10m, 1h",
    schema: z.string().min(1),
  },
  out: { flag: "--out <folder>", help: "folder of the run", schema: z.string().min(1) },
  store: {
    flag: "--store <file>",
    help: "SQLite file for curves and transcripts",
    schema: z.string().min(1),
  },
  resume: { flag: "--resume", help: "go on with the run in --out", schema: z.boolean() },
  concurrency: {
    flag: "--concurrency <n>",
    help: "episodes at a time; results do not depend on it",
    schema: whole(1),
  },
  contextTokens: { flag: "--context-tokens <n>", help: "longest sequence", schema: whole(8) },
  checkpointSeconds: {
    flag: "--checkpoint-seconds <n>",
    help: "save at least this often",
    schema: z.number().min(0),
  },
  warmStart: {
    help: "imitate the environment's flawed player first",
    schema: z.union([
      z.boolean(),
      partial([
        "learningRate",
        "drop",
        "drops",
        "weightDecay",
        "batch",
        "updates",
        "every",
        "patience",
        "tolerance",
      ]),
    ]),
  },
  evaluation: {
    help: "held-out tasks per split and mode; iterations between validations; validation tasks",
    schema: partial(["tasks", "every", "validationTasks"]),
  },
};

export interface StatedRun extends Partial<RunConfig> {
  readonly settings?: Partial<Settings>;
}

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);

/** Adds an option per row, and one per setting of methods. */
export function addRunOptions(command: Command): Command {
  for (const { flag, help } of Object.values(runRows)) if (flag) command.option(flag, help);
  for (const [name, row] of Object.entries(settingRows)) {
    const value = "oneOf" in row && row.oneOf ? row.oneOf.join("|") : "n";
    command.option(`--${kebab(name)} <${value}>`, `${row.help} (default: the method's)`);
  }
  return command;
}

/** The options as written on the command line, with numbers read and each value checked. */
export function statedRun(options: Readonly<Record<string, unknown>>): StatedRun {
  const run: Record<string, unknown> = {};
  const settings: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(options)) {
    if (text === undefined) continue;
    const flag = `--${kebab(name)}`;
    if (name in settingRows) {
      const row = settingRows[name as keyof Settings];
      settings[name] = typeof row.fallback === "number" ? numberFrom(flag, text) : text;
    } else if (name in runRows) {
      const { schema } = runRows[name as keyof RunConfig];
      const value = numeric(schema) ? numberFrom(flag, text) : text;
      const checked = schema.safeParse(value);
      if (!checked.success) throw badValue(flag, text, checked.error);
      run[name] = checked.data;
    }
  }
  if (typeof run.budget === "string") seconds("--budget", run.budget);
  return { ...run, ...(Object.keys(settings).length > 0 && { settings }) };
}

/** Whether the row takes a number: an option's text has to become one first. */
const numeric = (schema: z.ZodType): boolean => schema instanceof z.ZodNumber;

function numberFrom(flag: string, text: unknown): number {
  const value = Number(text);
  if (typeof text === "string" && text.trim() !== "" && Number.isFinite(value)) return value;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: "a number",
    mend: "Write digits, such as 100 or 3e-4.",
  });
}

function badValue(flag: string, text: unknown, error: z.ZodError): WhetstoneError {
  const issue = error.issues[0]!;
  const choices = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const near = choices.length > 0 ? nearest(String(text), choices) : undefined;
  return new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: choices.length > 0 ? `one of ${choices.join(", ")}` : plain(issue.message),
    mend: near ? `Did you mean ${near}?` : "See whetstone train --help.",
  });
}

const plain = (message: string): string =>
  message.replace(/^Invalid input: expected /, "").replace(/^Too small: expected number to be /, "a number ");

/** @param value what a config module exports by default. @param where the file's name. */
export function checkConfig(value: unknown, where: string): StatedRun {
  const settings = z.strictObject(
    Object.fromEntries(
      Object.entries(settingRows).map(([name, row]) => [
        name,
        (typeof row.fallback === "number" ? z.number() : z.string()).optional(),
      ]),
    ),
  );
  const schema = z.strictObject({
    ...Object.fromEntries(Object.entries(runRows).map(([name, row]) => [name, row.schema.optional()])),
    settings: settings.optional(),
  });
  const checked = schema.safeParse(value);
  if (!checked.success) throw badConfig(where, checked.error);
  const config = checked.data as StatedRun;
  if (config.budget !== undefined) seconds(`${where}: budget`, config.budget);
  return config;
}

function badConfig(where: string, error: z.ZodError): WhetstoneError {
  const issue = error.issues[0]!;
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const known = path === "settings" ? Object.keys(settingRows) : [...Object.keys(runRows), "settings"];
    const key = issue.keys[0]!;
    const near = nearest(key, known);
    return new WhetstoneError("config.invalid", {
      where,
      got: `the unknown key "${path === "" ? key : `${path}.${key}`}"`,
      expected: `one of ${known.join(", ")}`,
      mend: near ? `Did you mean ${near}?` : "Take the key out, or write one of those.",
    });
  }
  return new WhetstoneError("config.invalid", {
    where: path === "" ? where : `${where}: ${path}`,
    got: "a value that does not fit",
    expected: plain(issue.message),
    mend: "Correct the value.",
  });
}

/** A whole number from an option's text. */
export function statedNumber(flag: string, text: string, low = 0): number {
  const value = numberFrom(flag, text);
  if (Number.isSafeInteger(value) && value >= low) return value;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: `a whole number of ${low} or more`,
    mend: "Correct the number.",
  });
}
