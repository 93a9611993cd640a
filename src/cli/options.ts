/** What a run can be told: one table, from which come options, help and the check of config files. */
import type { Command } from "commander";
import { z } from "zod";
import { nearest } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { OptionValue } from "../core/slots.ts";
import { type TrainingExampleKind, trainingExampleKinds } from "../core/trainingExamples.ts";
import type { DecoderSize } from "../engine/local/config.ts";
import { type Device, devices } from "../engine/local/devices.ts";
import type { LoraOptions } from "../engine/local/index.ts";
import { type Reduction, reductions } from "../engine/tinker/datum.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import { highestRate, type Settings, settingRows } from "../method/settings.ts";
import type { EvaluationSettings, WarmStartSettings } from "../train/settings.ts";
import { type EngineName, engineNames } from "./catalogue.ts";
import { addNamed, type Choice } from "./choices.ts";
import { seconds } from "./durations.ts";
import { numberOption } from "./numbers.ts";

export { statedNumber } from "./numbers.ts";

/** A run as a config file or the command line states it. The command line wins. */
export interface RunConfig {
  readonly env: string | Environment;
  readonly method: string | Recipe;
  readonly engine: EngineName;
  /** The checkpoint to begin from: a folder, or a model's id on the Hugging Face Hub. Default: random weights. */
  readonly model: string;
  /** Shape of a model with random weights. */
  readonly size: DecoderSize;
  /** Train an adapter of this rank, or as stated, and leave the weights as they are. */
  readonly lora: number | LoraOptions;
  readonly device: Device;
  /** Threads within an operation. */
  readonly threads: number;
  /** MiB for the activations of a training step. */
  readonly memory: number;
  /** Of a server of the Tinker API. */
  readonly url: string;
  /** What it is to train, as it names it. */
  readonly baseModel: string;
  /** A folder with the tokenizer of that model. */
  readonly tokenizer: string;
  /** Name of the environment variable that holds the server's key. */
  readonly keyEnv: string;
  /** What the server makes of the losses of several tokens. */
  readonly reduction: Reduction;
  /** Sampling sessions that share the requests of each version of the weights. */
  readonly samplers: number;
  /** Dollars that a model behind an API may cost, over all processes of a run; `maxCalls` and `maxTokens` likewise. */
  readonly maxSpend: number;
  /** Dollars per million tokens read and written, as in "0.25,2". */
  readonly price: string;
  /** Most requests to it. */
  readonly maxCalls: number;
  /** Most tokens that it reads and writes. */
  readonly maxTokens: number;
  /** Folder of its replies. */
  readonly cache: string;
  readonly seed: number;
  readonly iterations: number;
  /** Training ends once so many were played. */
  readonly episodes: number;
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
  /** Iterations that rollouts may run ahead of learning. */
  readonly staleness: number;
  /** Largest importance weight of a token that was sampled ahead. */
  readonly importanceCap: number;
  /** Learn from what people said in production, in place of play: the store of it. The environment only measures then. */
  readonly fromFeedback: string;
  /** Of that, what to learn from. Default: what suits the method. */
  readonly examples: TrainingExampleKind;
}

interface Row<T> {
  /** Absent: config files only. */
  readonly flag?: string;
  readonly help: string;
  readonly schema: z.ZodType<T>;
}

const isObject = <T>(what: string, ...keys: string[]) =>
  z.custom<T>((v) => typeof v === "object" && v !== null && keys.every((key) => key in v), what);
const text = z.string("a text").min(1, "a text that is not empty");
const count = (low: number, high = Number.MAX_SAFE_INTEGER) => {
  const words =
    high === Number.MAX_SAFE_INTEGER
      ? `a whole number of ${low} or more`
      : `a whole number from ${low} to ${high}`;
  return z.number(words).int(words).min(low, words).max(high, words);
};
const atLeast = (low: number) =>
  z.number(`a number of ${low} or more`).min(low, `a number of ${low} or more`);
const above = z.number("a number above 0").positive("a number above 0");

/** Of a sequence: no model has room for more. */
const mostTokens = 2 ** 24;

/** An object of numbers, each of which may be absent. */
function partial<T extends object>(numbers: { readonly [K in keyof T]: z.ZodNumber }) {
  const shape = Object.fromEntries(
    Object.entries<z.ZodNumber>(numbers).map(([name, number]) => [name, number.optional()]),
  );
  const schema = z.strictObject(shape, "an object of numbers");
  return {
    schema: schema as unknown as z.ZodType<{ readonly [K in keyof T]?: number }>,
    names: Object.keys(numbers),
  };
}

const warmStart = partial<WarmStartSettings>({
  learningRate: above.max(highestRate, `a number above 0, ${highestRate} at most`),
  drop: above.max(1, "a factor above 0, 1 at most"),
  drops: count(0),
  weightDecay: atLeast(0),
  batch: count(1),
  updates: count(1),
  every: count(1),
  patience: count(1),
  tolerance: atLeast(0),
});
const evaluation = partial<EvaluationSettings>({
  tasks: count(0),
  every: count(0),
  validationTasks: count(1),
});

/** A missing or surplus row is a compile error. */
export const runRows: { readonly [K in keyof RunConfig]-?: Row<RunConfig[K]> } = {
  env: {
    flag: "--env <name>",
    help: "environment to train in (see whetstone envs)",
    schema: z.union([text, isObject<Environment>("the name of an environment, or an environment")]),
  },
  method: {
    flag: "--method <id>",
    help: "training method (see whetstone methods)",
    schema: z.union([text, isObject<Recipe>("the id of a method, or a method", "build", "id")]),
  },
  engine: {
    flag: "--engine <name>",
    help: "local (transformers), tabular (exact tables), tinker (a server of the Tinker API) or chat (any OpenAI-compatible API, for methods without weights)",
    schema: z.enum(engineNames),
  },
  model: {
    flag: "--model <folder|file.gguf|owner/name>",
    help: "initial checkpoint: a folder, a file, or a name on the Hugging Face Hub (default: random weights); with --engine chat: name of a model of the API",
    schema: text,
  },
  size: {
    help: "shape of a model with random weights",
    schema: z.strictObject(
      { width: count(1), layers: count(1), heads: count(1), kvHeads: count(1), feedForward: count(1) },
      "an object with width, layers, heads, kvHeads and feedForward",
    ),
  },
  lora: {
    flag: "--lora <rank>",
    help: "train a LoRA adapter of this rank instead of all weights",
    schema: z.union([
      count(1),
      isObject<LoraOptions>("a rank, or an object with rank, alpha, targets or from"),
    ]),
  },
  device: {
    flag: "--device <name>",
    help: "execution device (see whetstone doctor)",
    schema: z.enum(devices),
  },
  threads: { flag: "--threads <n>", help: "threads of the engine (default: one per core)", schema: count(1) },
  memory: {
    flag: "--memory <MiB>",
    help: "memory for the activations of a training step (default: an eighth of the machine's memory, at most 1024)",
    schema: count(1),
  },
  url: { flag: "--url <address>", help: "with --engine tinker or chat: where the server is", schema: text },
  baseModel: {
    flag: "--base-model <name>",
    help: "with --engine tinker: which of the server's models to train",
    schema: text,
  },
  tokenizer: {
    flag: "--tokenizer <folder>",
    help: "with --engine tinker: folder with that model's tokenizer.json and tokenizer_config.json",
    schema: text,
  },
  keyEnv: {
    flag: "--key-env <NAME>",
    help: "with --engine tinker or chat: environment variable with the server's key (default: TINKER_API_KEY, OPENAI_API_KEY)",
    schema: text,
  },
  reduction: {
    flag: "--reduction <kind>",
    help: "with --engine tinker: the server adds losses up, sum, or divides by lengths, sequence-mean, as SkyRL on JAX (default: as a trial at the start shows)",
    schema: z.enum(reductions),
  },
  samplers: {
    flag: "--samplers <n>",
    help: "with --engine tinker: sampling sessions for each version of the weights, of 64 requests at a time (default: 1)",
    schema: count(1),
  },
  maxSpend: {
    flag: "--max-spend <usd>",
    help: "with --engine chat and --price: stop before the whole run spends more than this; --resume with more goes on",
    schema: above,
  },
  price: {
    flag: "--price <in,out>",
    help: "with --engine chat: dollars per million tokens read and written, e.g. 0.25,2",
    schema: text,
  },
  maxCalls: {
    flag: "--max-calls <n>",
    help: "with --engine chat: stop before more requests of the whole run than this reach the provider",
    schema: count(1),
  },
  maxTokens: {
    flag: "--max-tokens <n>",
    help: "with --engine chat: stop before a request that could take the whole run beyond so many tokens, read and written",
    schema: count(1),
  },
  cache: {
    flag: "--cache <folder>",
    help: "with --engine chat: folder that caches replies, so that none is paid for twice (default: runs/chat)",
    schema: text,
  },
  seed: {
    flag: "--seed <n>",
    help: "seed of every random stream",
    schema: z.number("a whole number").int("a whole number"),
  },
  iterations: {
    flag: "--iterations <n>",
    help: "number of iterations; each one plays episodes and updates the policy",
    schema: count(0),
  },
  episodes: {
    flag: "--episodes <n>",
    help: "end training after the iteration in which this many episodes have been played",
    schema: count(1),
  },
  budget: {
    flag: "--budget <time>",
    help: "time limit of training, such as 90s, 10m or 1h; the warm start and the evaluations before and after are not counted",
    schema: text,
  },
  out: { flag: "--out <folder>", help: "folder of the run", schema: text },
  store: {
    flag: "--store <file>",
    help: "SQLite file for curves and transcripts",
    schema: text,
  },
  resume: { flag: "--resume", help: "resume the run in --out", schema: z.boolean("true or false") },
  concurrency: {
    flag: "--concurrency <n>",
    help: "episodes played at the same time; results do not depend on it",
    schema: count(1),
  },
  contextTokens: {
    flag: "--context-tokens <n>",
    help: "maximum sequence length, in tokens (default: what the pretrained model and the memory allow, or 128 without one)",
    schema: count(8, mostTokens),
  },
  checkpointSeconds: {
    flag: "--checkpoint-seconds <n>",
    help: "seconds between checkpoints, or more where saving would take over 2 % of the time; 0: after every iteration",
    schema: atLeast(0),
  },
  fromFeedback: {
    flag: "--from-feedback <store>",
    help: "train on the feedback in this traffic store instead of playing episodes",
    schema: text,
  },
  examples: {
    flag: "--examples <kind>",
    help: "with --from-feedback: kind of training example: conversation, pair, demonstration or rating (default: the kind that the method declares)",
    schema: z.enum(trainingExampleKinds),
  },
  warmStart: {
    help: "imitate the environment's flawed player first",
    schema: z.union([z.boolean("true or false"), warmStart.schema]),
  },
  staleness: {
    flag: "--staleness <n>",
    help: "async rollouts: maximum number of iterations between the weights that sample and the weights that are updated (default: 0, synchronous)",
    schema: count(0),
  },
  importanceCap: {
    flag: "--importance-cap <n>",
    help: "with --staleness: maximum importance weight of a token; 0 leaves the correction to the method (default: 2)",
    schema: z.union([z.literal(0), atLeast(1)]),
  },
  evaluation: {
    help: "held-out tasks per split and mode; iterations between validations; validation tasks",
    schema: evaluation.schema,
  },
};

export interface StatedRun extends Partial<RunConfig> {
  readonly settings?: Partial<Settings>;
  /** Options of the method's own. */
  readonly options?: Choice;
}

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);

/** Adds an option per row, and one per setting of methods. */
export function addRunOptions(command: Command): Command {
  for (const { flag, help } of Object.values(runRows)) if (flag) command.option(flag, help);
  for (const [name, row] of Object.entries(settingRows)) {
    const value = "oneOf" in row && row.oneOf ? row.oneOf.join("|") : "n";
    command.option(`--${kebab(name)} <${value}>`, `${row.help} (default: the method's)`);
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
  const { settings, own } = apartFrom((options.set ?? {}) as Choice);
  for (const [name, text] of Object.entries(options)) {
    if (text === undefined) continue;
    const flag = `--${kebab(name)}`;
    if (name in settingRows) {
      const row = settingRows[name as keyof Settings];
      settings[name] = typeof row.default === "number" ? numberFrom(flag, text) : text;
    } else if (name in runRows) {
      const { schema } = runRows[name as keyof RunConfig];
      const value = numeric(schema) ? numberFrom(flag, text) : text;
      const checked = schema.safeParse(value);
      if (!checked.success) throw badValue(flag, text, checked.error);
      run[name] = checked.data;
    }
  }
  if (typeof run.budget === "string") seconds("--budget", run.budget);
  return {
    ...run,
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(Object.keys(own).length > 0 && { options: own }),
  };
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
        (typeof row.default === "number" ? z.number("a number") : text).optional(),
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
