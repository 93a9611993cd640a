/** What a run was begun with, as far as it can be named or loaded again: `--resume` and `eval` need no more. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Environment } from "../env/environment.ts";
import { environments } from "../env/index.ts";
import { engineNames, requireEnvironment } from "./catalogue.ts";
import { loadConfig } from "./config.ts";
import type { FeedbackSource } from "./fromFeedback.ts";
import { limitsIn } from "./limits.ts";
import type { StatedRun } from "./options.ts";
import { statedServer, type TrainingServer, type trainingServerKeys } from "./tinker.ts";

/** Files that a run was begun with, seen from its folder: the whole project can be moved. */
export interface Modules {
  /** The module that exports the environment. */
  readonly env?: string;
  /** The config file. */
  readonly config?: string;
}

/** Where the examples of a run came from, and the environment that it is measured in; "" for none. */
export interface RecordedFeedback extends FeedbackSource {
  readonly measured: string;
}

export interface RunRecord {
  /** Name of the environment; of a run that learns from feedback, of the one that measures, or "". */
  readonly env: string;
  readonly feedback?: RecordedFeedback;
  readonly modules: Modules;
  /** The server that `run.json` names. */
  readonly server: TrainingServer;
  /** What `run.json` and `limits.json` say, as a run is stated. */
  readonly stated: StatedRun;
}

/** @returns undefined when no run was begun there. @throws WhetstoneError `checkpoint.damaged`. */
export function readRunRecord(out: string): RunRecord | undefined {
  const file = join(out, "run.json");
  if (!existsSync(file)) return undefined;
  const begun = recordIn(file);
  const engine = engineNames.find((name) => name === begun.engine);
  const {
    settings,
    model,
    size,
    lora,
    modules = {},
    feedback,
    ...more
  } = (begun.config ?? {}) as Pick<
    StatedRun,
    "settings" | "model" | "size" | "lora" | (typeof trainingServerKeys)[number]
  > & {
    readonly modules?: Modules;
    readonly feedback?: RecordedFeedback;
  };
  return {
    env: feedback ? feedback.measured : begun.env,
    modules,
    ...(feedback && { feedback }),
    server: statedServer(more),
    stated: {
      ...(feedback
        ? { fromFeedback: feedback.store, ...(feedback.examples && { examples: feedback.examples }) }
        : { env: begun.env }),
      ...(typeof begun.method === "string" && { method: begun.method }),
      ...(engine !== undefined && { engine }),
      ...(typeof begun.seed === "number" && { seed: begun.seed }),
      ...(typeof begun.iterations === "number" && { iterations: begun.iterations }),
      ...(typeof begun.contextTokens === "number" && { contextTokens: begun.contextTokens }),
      ...(typeof begun.staleness === "number" && { staleness: begun.staleness }),
      ...(typeof begun.importanceCap === "number" && { importanceCap: begun.importanceCap }),
      ...(settings !== undefined && { settings }),
      ...(begun.options !== undefined && { options: begun.options as NonNullable<StatedRun["options"]> }),
      ...(model !== undefined && { model }),
      ...statedServer(more),
      ...(size !== undefined && { size }),
      ...(lora !== undefined && { lora }),
      warmStart: (begun.warmStart as StatedRun["warmStart"] | null) ?? false,
      ...(begun.evaluation !== undefined && {
        evaluation: begun.evaluation as NonNullable<StatedRun["evaluation"]>,
      }),
      ...limitsIn(out),
    },
  };
}

function recordIn(file: string): { readonly env: string; readonly [key: string]: unknown } {
  let got = "other contents";
  let cause: unknown;
  try {
    const read: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof read === "object" && read !== null && "env" in read && typeof read.env === "string")
      return read as { readonly env: string };
  } catch (e) {
    cause = e;
    got = messageOf(e).split("\n")[0]!;
  }
  throw new WhetstoneError("checkpoint.damaged", {
    where: file,
    got,
    expected: "what the run was started with",
    fix: "Put a copy of the file back, or start the run anew in another folder.",
    cause,
  });
}

/** @param config the config file. @param env what was asked for as environment. */
export function modulesOf(out: string, config: string | undefined, env: StatedRun["env"]): Modules {
  const seen = (file: string): string => relative(resolve(out), resolve(file)).replaceAll("\\", "/");
  return {
    ...(typeof env === "string" && !isListed(env) && { env: seen(env) }),
    ...(config !== undefined && { config: seen(config) }),
  };
}

const isListed = (name: string): boolean => environments.some((e) => e.name === name);

/** The modules to go on with: a file that was moved may be given anew without becoming another run. */
export function settledModules(out: string, { modules }: RunRecord, given: Modules): Modules {
  const settle = (was: string | undefined, is: string | undefined): string | undefined =>
    is === undefined || was === undefined || !existsSync(resolve(out, was)) ? was : is;
  const env = settle(modules.env, given.env);
  const config = settle(modules.config, given.config);
  return { ...(env !== undefined && { env }), ...(config !== undefined && { config }) };
}

/** The config file that a run was begun with, where it is still there. */
export async function recordedConfig(out: string, { modules }: RunRecord): Promise<StatedRun> {
  const file = modules.config === undefined ? undefined : resolve(out, modules.config);
  return file !== undefined && existsSync(file) ? await loadConfig(file) : {};
}

/** The run's own environment. @throws WhetstoneError `config.invalid` when its module cannot be found again. */
export async function recordedEnvironment(
  out: string,
  begun: RunRecord,
  config: StatedRun,
): Promise<Environment> {
  const { modules } = begun;
  const file = modules.env === undefined ? undefined : resolve(out, modules.env);
  if (file !== undefined && existsSync(file)) return requireEnvironment("--env", file);
  if (typeof config.env === "object" && config.env.name === begun.env) return config.env;
  if (file === undefined && isListed(begun.env)) return requireEnvironment("--env", begun.env);
  const lost = file ?? (modules.config === undefined ? undefined : resolve(out, modules.config));
  const missing = lost !== undefined && !existsSync(lost) ? `, and no file ${lost}` : "";
  throw new WhetstoneError("config.invalid", {
    where: "--env",
    got: `no module for the environment "${begun.env}"${missing}`,
    expected: "its file: this run used a module",
    fix: "Give --env FILE.",
  });
}
