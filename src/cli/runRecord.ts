/** What the command line adds to a run's config: how its environment, method and engine are made again. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { type Json, objectOf } from "../core/json.ts";
import { trainingExampleKinds } from "../core/trainingExamples.ts";
import type { Environment } from "../env/environment.ts";
import { environments } from "../env/index.ts";
import type { RunConfig } from "../train/config.ts";
import { readRunConfig, seenFrom } from "../train/folder.ts";
import { type EngineName, type EngineOptions, engineNames, requireEnvironment } from "./catalogue.ts";
import { loadConfig } from "./config.ts";
import { seconds } from "./durations.ts";
import { storeName } from "./fromFeedback.ts";
import type { StatedRun } from "./options.ts";
import { runRows } from "./runRows.ts";
import { byEnvironment } from "./watch.ts";

/** Rows of a run, each of which may be absent. */
function rows<K extends keyof typeof runRows>(...names: readonly K[]) {
  type Shape = { [N in K]: z.ZodExactOptional<(typeof runRows)[N]["schema"]> };
  return Object.fromEntries(names.map((name) => [name, z.exactOptional(runRows[name].schema)])) as Shape;
}

const setting = z.union([z.number(), z.string(), z.boolean()]);
/** What makes the run the one that it is. */
const partsSchema = z.object({
  /** All settings of the method; absent in a run that a program began. */
  settings: z.exactOptional(z.record(z.string(), setting)),
  ...rows(
    "model",
    "size",
    "lora",
    "toolsInText",
    "url",
    "baseModel",
    "tokenizer",
    "keyEnv",
    "reduction",
    "samplers",
    "replyTokens",
  ),
  /** Where the examples of the run came from, and the environment that it is measured in; "" for none. */
  feedback: z.exactOptional(
    z.object({
      store: z.string(),
      /** Milliseconds since 1970: what came in later is left for the next run. */
      until: z.number(),
      examples: z.exactOptional(z.enum(trainingExampleKinds)),
      measured: z.string(),
    }),
  ),
});
/** What a run computes with and may spend. */
const means = [
  "device",
  "precision",
  "threads",
  "memory",
  "maxSpend",
  "price",
  "maxCalls",
  "maxTokens",
] as const;

/**
 * What may be stated otherwise when the run goes on. Files are seen from the run's folder: the whole project can be moved. Strict, since
 * a limit under an unknown name would not be kept to.
 */
const adjustableSchema = z.strictObject({
  ...rows(...means, "cache", "url", "keyEnv"),
  /** The files that export the environment, the config, and the judge that audits. */
  modules: z.exactOptional(
    z.object({
      env: z.exactOptional(z.string()),
      config: z.exactOptional(z.string()),
      /** "environment", or the file of the judge that audits. */
      watch: z.exactOptional(z.string()),
    }),
  ),
});
export type Parts = z.output<typeof partsSchema>;
export type AdjustableParts = z.output<typeof adjustableSchema>;

/** A run as the command line finds it again. */
export interface RunRecord {
  readonly out: string;
  readonly config: RunConfig;
  readonly parts: Parts;
  readonly adjustable: AdjustableParts;
  /** Undefined where a program brought an engine of its own. */
  readonly engine: EngineName | undefined;
  /** With which options. */
  readonly engineOptions: EngineOptions;
}

/** @returns undefined when no run was begun there. @throws WhetstoneError `checkpoint.damaged`, `run.different`. */
export async function readRunRecord(out: string): Promise<RunRecord | undefined> {
  const config = await readRunConfig(out);
  if (!config) return undefined;
  try {
    // what a program keeps there in a form of its own says nothing here
    const parts = partsSchema.parse(objectOf(config.parts) ?? {});
    const adjustable = adjustableSchema.parse(objectOf(config.adjustable.parts) ?? {});
    return recordOf(out, config, parts, adjustable);
  } catch (e) {
    throw new WhetstoneError("checkpoint.damaged", {
      where: resolve(out, "run.json"),
      got: messageOf(e).replaceAll(/\s+/g, " "),
      expected: "the options with which the run was started",
      fix: "Correct the file, or restore a copy of it.",
      cause: e,
    });
  }
}

export function recordOf(
  out: string,
  config: RunConfig,
  parts: Parts,
  adjustable: AdjustableParts,
): RunRecord {
  const { settings: _, feedback: __, replyTokens, ...made } = parts;
  const { modules: ___, cache, ...bounds } = adjustable;
  const engine = engineNames.find((name) => name === config.engine);
  return {
    ...{ out, config, parts, adjustable, engine },
    engineOptions: {
      ...made,
      ...bounds,
      ...(cache !== undefined && { cache: resolve(out, cache) }),
      // other models read it as a limit of the environment
      ...(engine === "chat" && replyTokens !== undefined && { replyTokens }),
    },
  };
}

/** What is stated, and nothing else. */
export function stated<T extends object, K extends keyof T>(of: T, ...names: readonly K[]) {
  type Stated = { readonly [N in K]?: Exclude<T[N], undefined> };
  return Object.fromEntries(
    names.flatMap((name) => (of[name] === undefined ? [] : [[name, of[name]]])),
  ) as Stated;
}

/**
 * A config with what was asked for in place of what it says.
 * @param beside the config file, and the name of the environment that is asked for, where there are such.
 * @throws WhetstoneError `run.different`.
 */
export function overlaid(
  record: RunRecord,
  asked: StatedRun,
  { file, measured }: { readonly file: string | undefined; readonly measured: string | undefined },
): RunRecord {
  const { out, config, parts: begun } = record;
  const engine = asked.engine ?? config.engine;
  const server = stated(asked, "url", "keyEnv");
  const feedback = statedFeedback(begun.feedback, asked, measured);
  const parts: Parts = {
    ...begun,
    ...(begun.settings && { settings: { ...begun.settings, ...asked.settings } }),
    ...stated(
      asked,
      "model",
      "size",
      "lora",
      "toolsInText",
      "baseModel",
      "tokenizer",
      "reduction",
      "samplers",
      "replyTokens",
    ),
    // a server that trains is part of what the run is; a model behind an API may move
    ...(engine !== "chat" && server),
    ...(feedback && { feedback }),
  };
  const modules = settledModules(out, record.adjustable.modules, modulesOf(out, file, asked));
  const adjustable: AdjustableParts = {
    ...record.adjustable,
    ...stated(asked, ...means),
    ...(asked.cache !== undefined && { cache: seenFrom(out, asked.cache) }),
    ...(engine === "chat" && server),
    ...(modules && { modules }),
  };
  return recordOf(
    out,
    {
      ...config,
      engine,
      ...stated(asked, "seed", "iterations", "contextTokens", "staleness", "importanceCap"),
      evaluation: { ...config.evaluation, ...asked.evaluation },
      options: { ...config.options, ...asked.options },
      parts: plain(parts),
      adjustable: {
        ...config.adjustable,
        ...stated(asked, "concurrency", "checkpointSeconds", "keepEvery", "episodes", "onAlarm"),
        ...(asked.budget !== undefined && { budgetSeconds: seconds("--budget", asked.budget) }),
        parts: plain(adjustable),
      },
    },
    parts,
    adjustable,
  );
}

/** Where examples come from: as the run began, with what is asked for in its place. */
export function statedFeedback(
  begun: Parts["feedback"],
  asked: StatedRun,
  measured: string | undefined,
): Parts["feedback"] {
  if (!begun && asked.fromFeedback === undefined) return undefined;
  return {
    ...{ store: "", until: Date.now(), measured: "" },
    ...begun,
    ...(asked.fromFeedback !== undefined && { store: storeName(asked.fromFeedback) }),
    ...stated(asked, "examples"),
    ...(measured !== undefined && { measured }),
  };
}

/** As `run.json` gives it back. */
const plain = (value: Parts | AdjustableParts): Json => JSON.parse(JSON.stringify(value)) as Json;

type Modules = AdjustableParts["modules"];

/** Files of a run, seen from its folder. @param config the config file. @param asked with what was asked for as environment and as watch. */
export function modulesOf(
  out: string,
  config: string | undefined,
  { env, watch }: Pick<StatedRun, "env" | "watch">,
): NonNullable<Modules> {
  return {
    ...(typeof env === "string" && !isListed(env) && { env: seenFrom(out, env) }),
    ...(config !== undefined && { config: seenFrom(out, config) }),
    ...(typeof watch === "string" && { watch: watch === byEnvironment ? watch : seenFrom(out, watch) }),
  };
}

const isListed = (name: string): boolean => environments.some((e) => e.name === name);

/** The modules to go on with. A file that was moved may be given anew. @throws WhetstoneError `run.different` for another one. */
function settledModules(out: string, begun: Modules, given: NonNullable<Modules>): Modules {
  for (const name of ["env", "config"] as const) {
    const [was, is] = [begun?.[name], given[name]];
    if (was === undefined || is === undefined || was === is || !existsSync(resolve(out, was))) continue;
    throw new WhetstoneError("run.different", {
      where: "--resume",
      got: `${is}, but the run was started with ${was}`,
      expected: "the file with which the run was started",
      fix: "Resume with the original files, or choose another folder.",
    });
  }
  const watch = given.watch ?? begun?.watch;
  if (!begun) return watch === undefined ? undefined : { watch };
  return {
    ...(watch !== undefined && { watch }),
    ...(begun.env !== undefined && { env: given.env ?? begun.env }),
    ...(begun.config !== undefined && { config: given.config ?? begun.config }),
  };
}

/** The config file that a run was begun with, where it is still there. */
export async function recordedConfig({ out, adjustable: { modules } }: RunRecord): Promise<StatedRun> {
  const file = modules?.config === undefined ? undefined : resolve(out, modules.config);
  return file !== undefined && existsSync(file) ? await loadConfig(file) : {};
}

/** Name of a run's environment; of a run that learns from feedback, of the one that measures, or "". */
export const environmentName = ({ config, parts }: RunRecord): string =>
  parts.feedback ? parts.feedback.measured : config.env;

/** The run's own environment. @throws WhetstoneError `config.invalid` when its module cannot be found again. */
export async function recordedEnvironment(record: RunRecord, config: StatedRun): Promise<Environment> {
  const { out, adjustable } = record;
  const { modules = {} } = adjustable;
  const name = environmentName(record);
  const file = modules.env === undefined ? undefined : resolve(out, modules.env);
  if (file !== undefined && existsSync(file)) return requireEnvironment("--env", file);
  if (typeof config.env === "object" && config.env.name === name) return config.env;
  if (file === undefined && isListed(name)) return requireEnvironment("--env", name);
  const lost = file ?? (modules.config === undefined ? undefined : resolve(out, modules.config));
  const missing = lost !== undefined && !existsSync(lost) ? `, and no file ${lost}` : "";
  throw new WhetstoneError("config.invalid", {
    where: "--env",
    got: `no module for the environment "${name}"${missing}`,
    expected: "the file of the environment, since this run used a module",
    fix: "Give --env FILE.",
  });
}
